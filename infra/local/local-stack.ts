import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { readKeyStatus } from '../ops/keys/key-status.ts'
import { serveAuthorizationPage } from './authorization-page.ts'
import { type AwsEndpoint, startAwsEndpoint } from './aws/server.ts'
import { createConsole } from './console/serve-console.ts'
import { demoUsers } from './demo/demo-users.ts'
import { startDemo } from './demo/start-demo.ts'
import { createTables } from './dynamodb/create-tables.ts'
import { startDynamodb } from './dynamodb/start-dynamodb.ts'
import { createGateway } from './gateway/gateway.ts'
import { bindServer, type BoundServer, explainPortError, findFreePort, loopback } from './http/bind-server.ts'
import { lockDataDirectory } from './lock.ts'
import type { FunctionModel, StackModel } from './model.ts'
import type { LocalStackOptions } from './options.ts'
import { composeEnvironment } from './runtime/function-environment.ts'
import { openFunctionLog } from './runtime/function-log.ts'
import { createInvokeByName } from './runtime/invoke-by-name.ts'
import { type InvokeFunction, Runtime } from './runtime/runtime.ts'
import { ServiceThread } from './service-thread.ts'
import { type Synthesize, synthesizeLocalStage } from './stage.ts'
import { StartupError } from './startup-error.ts'
import { buildStackModel } from './template/build-model.ts'
import { watchSources } from './watch-sources.ts'

/** A local stack that answers. */
export interface LocalStack {
  /** Address of the API, without a trailing slash. */
  baseUrl: string
  /** Address of the AWS endpoint, without a trailing slash. */
  awsUrl: string
  /** Address of the authorization page, without a trailing slash. */
  pageUrl: string
  model: StackModel
  aws: AwsEndpoint
  /** Runs a function by its logical id. */
  invoke: InvokeFunction
  /** File with every line that the functions log. */
  logFile: string
  /** Stops everything, the last started first. Afterwards nothing of it runs or listens. */
  stop: () => Promise<void>
}

export interface StartOptions extends LocalStackOptions {
  /** Takes the lines that a person should see. */
  showLine: (line: string) => void
  /** Where the functions' lines go; by default a file in the data directory. */
  logFile?: string | undefined
  /** What to serve; by default the project's own stage `local`. */
  synthesize?: Synthesize
}

/** The region and the account of everything local. No real account has this number. */
const region = 'us-east-1'
const accountId = '000000000000'

/**
 * Starts everything and resolves when all of it answers (with demo data: when Alice can sign in). Throws a `StartupError` for
 * what a person can mend (a port taken, Java missing, a setting out of range), after stopping what had started.
 */
export async function startLocalStack(options: StartOptions): Promise<LocalStack> {
  const started = new AsyncDisposableStack()
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= started.disposeAsync())
  try {
    return { ...(await start(options, started)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(
  options: StartOptions,
  started: AsyncDisposableStack,
): Promise<Omit<LocalStack, 'stop'>> {
  const directory = openDirectory(options.dataDirectory, started)
  const keep = (name: string) => (options.dataDirectory === undefined ? undefined : join(directory, name))
  const api = await openServer(options.port, '--port', started)
  const page = await openServer(options.pagePort, '--page-port', started)
  const awsPort = await claimPort(options.awsPort, '--aws-port')
  const awsUrl = `http://${loopback}:${awsPort}`

  const [dynamodbEndpoint, model] = await allOrFirstFailure([
    options.dynamodbEndpoint ?? openDynamodb(keep('dynamodb'), started),
    synthesizeModel(options, join(directory, 'assembly'), page.url, { apiUrl: api.url, awsUrl }),
  ])
  await createTables(dynamodbEndpoint, region, model.tables)

  const logFile = options.logFile ?? join(directory, 'logs', 'functions.log')
  const environmentOf = (item: FunctionModel) =>
    composeEnvironment(item, region, awsUrl, { ...aws.credentialsFor(item), sessionToken: 'local' })
  const runtime = openRuntime(model, environmentOf, logFile, options.showLine, started)
  const aws = await startAwsEndpoint({
    port: awsPort,
    model,
    dynamodbEndpoint,
    dataDirectory: keep('aws'),
    invoke: createInvokeByName(model.functions, runtime.invoke, options.showLine),
    report: (problem) => options.showLine(`aws: ${problem}`),
  }).catch((error: unknown) => {
    throw explainPortError(error as Error, awsPort, '--aws-port')
  })
  started.defer(() => aws.close())

  serveApi(api, page.url, { model, aws, invoke: runtime.invoke, demo: options.demo }, started)
  page.serve(await serveAuthorizationPage(api.url))
  await runSchedulesOnce(model, runtime.invoke)
  aws.startDelivery()
  const { showLine } = options
  if (options.demo)
    started.defer(await startDemo({ model, aws, environmentOf, file: keep('demo.json'), showLine }))
  if (options.watch === true) started.defer(await watchSources({ model, runtime, showLine }))
  const { invoke } = runtime
  return { baseUrl: api.url, awsUrl: aws.url, pageUrl: page.url, model, aws, invoke, logFile }
}

function openDirectory(dataDirectory: string | undefined, started: AsyncDisposableStack): string {
  if (dataDirectory === undefined) {
    const temporary = mkdtempSync(join(tmpdir(), 'local-stack-'))
    started.defer(() => rmSync(temporary, { recursive: true, force: true }))
    return temporary
  }
  const directory = resolve(dataDirectory)
  started.defer(lockDataDirectory(directory))
  return directory
}

async function openServer(port: number, option: string, started: AsyncDisposableStack): Promise<BoundServer> {
  const server = await bindServer(port, option)
  started.defer(() => server.close())
  return server
}

async function openDynamodb(directory: string | undefined, started: AsyncDisposableStack): Promise<string> {
  const dynamodb = await startDynamodb(directory)
  started.defer(() => dynamodb.close())
  return dynamodb.endpoint
}

// The templates must spell the endpoint's address before the endpoint can be opened.
async function claimPort(port: number, option: string): Promise<number> {
  if (port === 0) return findFreePort()
  const probe = await bindServer(port, option)
  await probe.close()
  return port
}

async function synthesizeModel(
  { settings, synthesize = synthesizeLocalStage, watch = false }: StartOptions,
  outputDirectory: string,
  pageUrl: string,
  urls: { apiUrl: string; awsUrl: string },
): Promise<StackModel> {
  const assembly = await synthesize(outputDirectory, { authUrl: `${pageUrl}/`, ...settings }, watch)
  return buildStackModel(assembly, { region, accountId, ...urls })
}

function openRuntime(
  { functions }: StackModel,
  environmentOf: (item: FunctionModel) => Record<string, string>,
  logFile: string,
  showLine: (line: string) => void,
  started: AsyncDisposableStack,
): Runtime {
  const log = openFunctionLog(logFile, showLine)
  started.defer(() => log.close())
  const runtime = new Runtime({ functions, environmentOf, log })
  started.defer(() => runtime.close())
  return runtime
}

function serveApi(
  api: BoundServer,
  pageUrl: string,
  stack: { model: StackModel; aws: AwsEndpoint; invoke: InvokeFunction; demo: boolean },
  started: AsyncDisposableStack,
): void {
  const { model, aws, invoke, demo } = stack
  const identity = { apiId: 'local', accountId, domainName: `${loopback}:${api.port}`, port: api.port }
  const gateway = createGateway({ routes: model.routes, cors: model.cors, invoke, identity })
  const owner = new ServiceThread({
    AWS_REGION: region,
    AWS_ENDPOINT_URL: aws.url,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    TABLE_NAME: model.outputs.TableName ?? '',
  })
  started.defer(() => owner.close())
  const serveConsole = createConsole({
    model,
    aws,
    baseUrl: api.url,
    pageUrl,
    users: demo ? demoUsers : [],
    readKeys: () => owner.call<typeof readKeyStatus>('infra/ops/keys/key-status.ts', 'readKeyStatus'),
  })
  api.serve((request, response) => serveConsole(request, response) ?? gateway(request, response))
  // Closed before the functions and the endpoint that they call, so that running requests are answered.
  started.defer(() => api.close())
}

/**
 * Runs every function of a `rate(...)` schedule once. EventBridge lets a new rule wait for up to its period, but the first
 * signing key comes from a schedule, and a person who has just started the stack needs it now.
 */
async function runSchedulesOnce({ rules, functions }: StackModel, invoke: InvokeFunction): Promise<void> {
  const targets = rules
    .filter(({ enabled, schedule }) => enabled && schedule?.startsWith('rate('))
    .flatMap((rule) => rule.targets)
  await Promise.all(
    targets.map(async ({ arn, input = '{}' }) => {
      const scheduled = functions.find((item) => item.arn === arn)
      if (scheduled === undefined) return
      const { functionError } = await invoke(scheduled.logicalId, input)
      if (functionError !== undefined)
        throw new StartupError(`the scheduled function ${scheduled.name} failed: see the functions' log`)
    }),
  )
}

// Unlike Promise.all, waits for both: what starts although the other fails must be known to be stopped.
async function allOrFirstFailure<A, B>(both: [A | Promise<A>, B | Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(both)
  return Promise.all(both)
}
