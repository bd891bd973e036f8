import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { serveAuthorizationPage } from './authorization-page.ts'
import type { AwsEndpoint } from './aws/server.ts'
import { createTables } from './dynamodb/create-tables.ts'
import { startDynamodb } from './dynamodb/start-dynamodb.ts'
import { demoUsers } from './demo/demo-users.ts'
import { startDemo } from './demo/start-demo.ts'
import { createGateway } from './gateway/gateway.ts'
import { bindServer, type BoundServer, findFreePort, loopback } from './http/bind-server.ts'
import type { InvokeFunction } from './runtime/runtime.ts'
import { lockDataDirectory } from './lock.ts'
import type { FunctionModel, StackModel } from './model.ts'
import type { LocalStackOptions } from './options.ts'
import { openFunctionLog } from './runtime/function-log.ts'
import { composeEnvironment } from './runtime/function-environment.ts'
import { createInvokeByName } from './runtime/invoke-by-name.ts'
import { Runtime } from './runtime/runtime.ts'
import { runSchedulesOnce } from './run-schedules-once.ts'
import { startEndpoint } from './start-endpoint.ts'
import { type Synthesize, synthesizeLocalStage } from './stage.ts'
import { buildStackModel } from './template/build-model.ts'
import { createLocalHandler } from './view/local-handler.ts'
import { openKeyReader } from './view/open-key-reader.ts'

/** A local stack that answers. */
export interface LocalStack {
  /** Address of the API, without a trailing slash. */
  baseUrl: string
  /** Address of the AWS endpoint, without a trailing slash. */
  awsUrl: string
  /** Address of the authorization page's server, without a trailing slash. */
  pageUrl: string
  model: StackModel
  aws: AwsEndpoint
  /** Runs a function by its logical id. */
  invoke: InvokeFunction
  /** File with every line that the functions log. */
  logFile: string
  /** Stops everything, the last started first; afterwards nothing of it runs or listens. */
  stop: () => Promise<void>
}

export interface StartOptions extends LocalStackOptions {
  /** Takes the lines that a person should see. */
  showLine: (line: string) => void
  /** Where the functions' lines go; a file in the data directory unless told. */
  logFile?: string | undefined
  /** What to serve; the project's own stage `local` unless a test says otherwise. */
  synthesize?: Synthesize
}

type Closer = () => Promise<void> | void

/** The region and account of everything local; real accounts never have this number. */
const region = 'us-east-1'
const accountId = '000000000000'

/**
 * Starts everything and resolves when all of it answers (with demo data: when Alice can sign in). Throws a `StartupError` for what a person can mend (a port
 * taken, Java missing, a setting out of range), after stopping what had started.
 */
export async function startLocalStack(options: StartOptions): Promise<LocalStack> {
  const closers: Closer[] = []
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= closeAll(closers))
  try {
    return await assemble(options, closers, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function assemble(
  options: StartOptions,
  closers: Closer[],
  stop: () => Promise<void>,
): Promise<LocalStack> {
  const directory = openDirectory(options.dataDirectory, closers)
  const kept = (name: string) => (options.dataDirectory === undefined ? undefined : join(directory, name))
  const api = await openServer(options.port, '--port', closers)
  const page = await openServer(options.pagePort, '--page-port', closers)
  const awsPort = await claimPort(options.awsPort, '--aws-port')
  const addresses = { region, accountId, apiUrl: api.url, awsUrl: `http://${loopback}:${awsPort}` }

  // The two slow parts, at once: one is a process of its own.
  const [dynamodbEndpoint, model] = await allOrFirstFailure([
    options.dynamodbEndpoint ?? openDynamodb(kept('dynamodb'), closers),
    synthesizeModel(options, join(directory, 'assembly'), page.url, addresses),
  ])
  await createTables(dynamodbEndpoint, region, model.tables)

  const logFile = options.logFile ?? join(directory, 'logs', 'functions.log')
  const log = openFunctionLog(logFile, options.showLine)
  closers.push(() => log.close())
  const environmentOf = (item: FunctionModel) =>
    composeEnvironment(item, region, aws.url, { ...aws.credentialsFor(item), sessionToken: 'local' })
  const runtime = new Runtime({
    functions: model.functions,
    environmentOf,
    log,
  })
  closers.push(() => runtime.close())
  const aws = await startEndpoint({
    port: awsPort,
    model,
    dynamodbEndpoint,
    dataDirectory: kept('aws'),
    invoke: createInvokeByName(model.functions, runtime.invoke, options.showLine),
    report: (problem) => options.showLine(`aws: ${problem}`),
  })
  closers.push(() => aws.close())

  const gateway = createGateway({
    routes: model.routes,
    cors: model.cors,
    invoke: runtime.invoke,
    identity: { apiId: 'local', accountId, domainName: `${loopback}:${api.port}`, port: api.port },
  })
  const keys = openKeyReader({ region, awsUrl: aws.url, table: model.outputs.TableName ?? '' })
  closers.push(() => keys.close())
  const local = createLocalHandler({
    model,
    aws,
    baseUrl: api.url,
    pageUrl: page.url,
    users: options.demo ? demoUsers : [],
    keys,
  })
  api.serve((request, response) => local(request, response) ?? gateway(request, response))
  page.serve(await serveAuthorizationPage(api.url))
  // Stopped before the functions and the endpoint that they call: what is being answered is answered to its end.
  closers.push(() => api.close())
  await runSchedulesOnce(model, runtime.invoke)
  aws.startDelivery()
  if (options.demo) {
    const { showLine } = options
    closers.push(await startDemo({ model, aws, environmentOf, file: kept('demo.json'), showLine }))
  }
  return {
    baseUrl: api.url,
    awsUrl: aws.url,
    pageUrl: page.url,
    model,
    aws,
    invoke: runtime.invoke,
    logFile,
    stop,
  }
}

function openDirectory(dataDirectory: string | undefined, closers: Closer[]): string {
  if (dataDirectory === undefined) {
    const temporary = mkdtempSync(join(tmpdir(), 'local-stack-'))
    closers.push(() => rmSync(temporary, { recursive: true, force: true }))
    return temporary
  }
  const directory = resolve(dataDirectory)
  closers.push(lockDataDirectory(directory))
  return directory
}

async function openServer(port: number, option: string, closers: Closer[]): Promise<BoundServer> {
  const server = await bindServer(port, option)
  closers.push(() => server.close())
  return server
}

async function openDynamodb(directory: string | undefined, closers: Closer[]): Promise<string> {
  const dynamodb = await startDynamodb(directory)
  closers.push(() => dynamodb.close())
  return dynamodb.endpoint
}

// The templates must spell the endpoint's address before it can be opened.
async function claimPort(port: number, option: string): Promise<number> {
  if (port === 0) return findFreePort()
  const probe = await bindServer(port, option)
  await probe.close()
  return port
}

async function synthesizeModel(
  { settings, synthesize = synthesizeLocalStage }: StartOptions,
  outputDirectory: string,
  pageUrl: string,
  addresses: Parameters<typeof buildStackModel>[1],
): Promise<StackModel> {
  const assembly = await synthesize(outputDirectory, { authUrl: `${pageUrl}/`, ...settings })
  return buildStackModel(assembly, addresses)
}

// Unlike Promise.all, waits for all of them: what starts in spite of another's failure must be there to be stopped.
async function allOrFirstFailure<A, B>(both: [A | Promise<A>, B | Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(both)
  return Promise.all(both)
}

async function closeAll(closers: Closer[]): Promise<void> {
  const problems: unknown[] = []
  for (const close of closers.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      problems.push(error)
    }
  }
  if (problems.length > 0) throw new AggregateError(problems, 'not everything stopped cleanly')
}
