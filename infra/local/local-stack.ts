import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pagePath, serveAuthorizationPage } from './authorization-page.ts'
import { openCallers } from './aws/iam/callers.ts'
import { type AwsEndpoint, startAwsEndpoint } from './aws/server.ts'
import { createConsole } from './console/serve-console.ts'
import { demoUsers } from './demo/demo-users.ts'
import { sendDemo } from './demo/send-demo.ts'
import { createTables } from './dynamodb/create-tables.ts'
import { startDynamodb } from './dynamodb/start-dynamodb.ts'
import { createGateway } from './gateway/gateway.ts'
import { bindServer } from './http/bind-server.ts'
import { lockDataDirectory } from './lock.ts'
import { openQuirks } from './quirks.ts'
import type { FunctionModel, StackModel } from './model.ts'
import type { LocalStackOptions } from './options.ts'
import { composeEnvironment } from './runtime/function-environment.ts'
import { openFunctionLog } from './runtime/function-log.ts'
import { type InvokeFunction, Runtime } from './runtime/runtime.ts'
import { requireWritable } from './require-writable.ts'
import { runSchedulesOnce } from './run-schedules.ts'
import { serveSampleApp } from './sample-app.ts'
import { type Synthesize, synthesizeLocalStage } from './stage.ts'
import { refuse } from './startup-error.ts'
import { buildStackModel } from './template/build-model.ts'

/** A running local stack. */
export interface LocalStack {
  /** URL of the API, without a trailing slash. */
  baseUrl: string
  awsUrl: string
  pageUrl: string
  /** URL of the sample app, without a trailing slash. */
  appUrl: string
  model: StackModel
  aws: AwsEndpoint
  invoke: InvokeFunction
  logFile: string
  /** Stops all parts in reverse order of their start, so that no process or server of the stack is left. */
  stop: () => Promise<void>
}

export interface StartOptions extends LocalStackOptions {
  showLine: (line: string) => void
  /** File for the lines that functions log. Default: a file in the data directory. */
  logFile?: string | undefined
  /** Synthesizes the stage to serve. Default: the project's own stage `local`. */
  synthesize?: Synthesize
}

/** The sample app's port if no option gives one. */
const defaultAppPort = 3002
const region = 'us-east-1'
const accountId = '000000000000'
/** Minimum free disk space, several times what the stack needs for bundles, demo data and some use. */
const minFreeBytes = 100_000_000

/**
 * Starts the local stack. Resolves when every server answers and the demo data, if wanted, is whole. If the
 * start fails, stops what has already started, and throws. A `StartupError` has a cause that a person can
 * fix.
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
  const { dataDirectory, showLine } = options
  const directory = openDirectory(dataDirectory, started)
  const { bavail, bsize } = statfsSync(directory)
  if (bavail * bsize < minFreeBytes)
    refuse(`${directory} has less than 100 MB of free space: make some, or start with another --data DIR`)
  const keep = (name: string) => (dataDirectory === undefined ? undefined : join(directory, name))
  const { publicUrl } = options
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).hostname
  const api = started.adopt(await bindServer(options.port, '--port', publicHost), close)
  const page = started.adopt(await bindServer(options.pagePort, '--page-port'), close)
  const app = started.adopt(await bindAppServer(options.appPort), close)
  const awsServer = started.adopt(await bindServer(options.awsPort, '--aws-port'), close)
  const awsUrl = awsServer.url
  const pageUrl = publicUrl === undefined ? page.url : publicUrl + pagePath

  const dynamodb =
    options.dynamodbEndpoint ??
    sayIfSlow(openDynamodb(keep('dynamodb'), started), 'DynamoDB Local (Java)', showLine)
  const ownPage = { authUrl: `${pageUrl}/`, signOutUrl: `${pageUrl}/sign-out` }
  const settings = {
    ...(options.settings['authUrl'] === undefined ? ownPage : {}),
    ...options.settings,
    corsOrigins: [options.settings['corsOrigins'], app.url].filter(Boolean).join(','),
  }
  const synthesized = (options.synthesize ?? synthesizeLocalStage)(join(directory, 'bundles'), settings)
  // Wait for DynamoDB and the synthesis even if one fails, so that whatever has started can be stopped.
  await Promise.allSettled([dynamodb, synthesized])
  const dynamodbEndpoint = await dynamodb
  const model = buildStackModel(await synthesized, {
    region,
    accountId,
    apiUrl: publicUrl ?? api.url,
    awsUrl,
  })
  await createTables(dynamodbEndpoint, model.tables).catch((error: unknown) => {
    if (options.dynamodbEndpoint === undefined) throw error
    const { origin } = new URL(options.dynamodbEndpoint)
    const { code, name } = error as NodeJS.ErrnoException
    refuse(`no DynamoDB answers at ${origin} (${code ?? name}): see --dynamodb-endpoint`)
  })

  const logFile = options.logFile ?? join(directory, 'logs', 'functions.log')
  const log = openFunctionLog(logFile, showLine)
  const callers = openCallers(model)
  const environmentOf = (item: FunctionModel) =>
    composeEnvironment(item, region, awsUrl, callers.credentialsFor(item))
  const quirks = openQuirks(options.aws)
  const runtime = started.adopt(
    new Runtime({ functions: model.functions, environmentOf, log, freezes: quirks.has('freezes') }),
    close,
  )
  const { invoke } = runtime
  const startingAws = startAwsEndpoint({
    server: awsServer,
    model,
    callers,
    dynamodbEndpoint,
    dataDirectory: keep('aws'),
    invoke,
    quirks,
    report: (problem) => showLine(`aws: ${problem}`),
  })
  const aws = started.adopt(await startingAws, close)

  const stack = { model, aws, baseUrl: api.url, pageUrl, appUrl: app.url, logFile }
  const serveConsole = createConsole({ ...stack, users: options.demo ? demoUsers : [] })
  const gateway = createGateway({ ...model, invoke, stageVariables: aws.stageVariables })
  const servePage = serveAuthorizationPage(publicUrl ?? api.url, publicUrl && pagePath)
  api.serve((request, response) => {
    response.once('finish', () => {
      if (response.statusCode === 500)
        showLine(`${request.method ?? ''} ${request.url?.split('?', 1)[0] ?? ''} was answered 500`)
    })
    if (publicUrl !== undefined && request.url?.startsWith(`${pagePath}/`))
      return servePage(request, response)
    return serveConsole(request, response) ?? gateway(request, response)
  })
  // Close the API before the functions and the AWS endpoint, so that running requests are still answered.
  started.defer(() => api.close())
  if (publicUrl === undefined) page.serve(servePage)
  app.serve(serveSampleApp(publicUrl ?? api.url))
  aws.startDelivery()
  const demo = options.demo ? sendDemo({ ...stack, file: keep('demo.json') }) : undefined
  // Send the demo data while the schedules run: users can register before the first signing key exists.
  await Promise.all([
    demo && sayIfSlow(demo, 'the demo data, which is sent through the bus', showLine),
    sayIfSlow(runSchedulesOnce(model, invoke, showLine), 'the first run of the schedules', showLine),
  ])
  return { ...stack, awsUrl, invoke }
}

/** Waiting for longer than this is said. */
const patienceMilliseconds = 5_000

/** Waits for `work`, and says so if it takes long. */
async function sayIfSlow<T>(work: Promise<T>, what: string, showLine: (line: string) => void): Promise<T> {
  const timer = setTimeout(() => showLine(`waiting for ${what} ...`), patienceMilliseconds)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

/** Listens for the sample app. Only if an option names the port does it stop the start that it is taken. */
const bindAppServer = (port?: number) =>
  port === undefined
    ? bindServer(defaultAppPort, '--app-port').catch(() => bindServer(0, '--app-port'))
    : bindServer(port, '--app-port')

const close = (part: { close: () => Promise<void> }): Promise<void> => part.close()

function openDirectory(dataDirectory: string | undefined, started: AsyncDisposableStack): string {
  if (dataDirectory === undefined) {
    const temporary = mkdtempSync(join(tmpdir(), 'local-stack-'))
    const remove = () => rmSync(temporary, { recursive: true, force: true })
    // A signal during the start ends the process at once, so this is all that then runs.
    process.once('exit', remove)
    started.defer(() => {
      process.off('exit', remove)
      remove()
    })
    return temporary
  }
  const directory = resolve(dataDirectory)
  requireWritable(directory, ', or start with another --data DIR')
  started.defer(lockDataDirectory(directory))
  return directory
}

async function openDynamodb(directory: string | undefined, started: AsyncDisposableStack): Promise<string> {
  return started.adopt(await startDynamodb(directory), close).endpoint
}
