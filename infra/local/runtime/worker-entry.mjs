// Runs in a function's worker thread, in place of Lambda's runtime client: loads the handler once, then runs
// it for every message. Plain JavaScript, because stripping types would cost each worker 40 ms.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'

const { model, logStreamName, running } = workerData
const { codeDirectory, handler, name: functionName } = model

/** Logs an error of the function, and sends it to the caller in the form in which Lambda reports errors. */
function report(kind, title, error) {
  const { name, message, stack } =
    error instanceof Error ? error : { name: typeof error, message: String(error), stack: '' }
  const trace = (stack ?? '').split('\n').filter(Boolean)
  const payload = JSON.stringify({ errorType: name, errorMessage: message, trace })
  console.error(title, payload)
  parentPort.postMessage({ kind, payload })
}

const runtimeError = (name, message) => Object.assign(new Error(message), { name })

async function loadHandler() {
  const dot = handler.lastIndexOf('.')
  const [file, name] = [handler.slice(0, dot), handler.slice(dot + 1)]
  const path = ['.js', '.mjs', '.cjs', '.ts'].map((end) => join(codeDirectory, file + end)).find(existsSync)
  if (path === undefined)
    throw runtimeError('Runtime.ImportModuleError', `Error: Cannot find module '${file}'`)
  const module = await import(pathToFileURL(path).href)
  const run = module[name] ?? module.default?.[name]
  if (typeof run !== 'function')
    throw runtimeError('Runtime.HandlerNotFound', `${handler} is undefined or not exported`)
  return run
}

const contextOf = ({ requestId, deadline }) => ({
  callbackWaitsForEmptyEventLoop: true,
  functionName,
  functionVersion: '$LATEST',
  invokedFunctionArn: model.arn,
  memoryLimitInMB: String(model.memoryMegabytes),
  awsRequestId: requestId,
  logGroupName: `/aws/lambda/${functionName}`,
  logStreamName,
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
})

let run
try {
  run = await loadHandler()
  parentPort.postMessage({ kind: 'loaded' })
} catch (error) {
  report('not-loaded', 'Uncaught Exception', error)
}

let busy = false

// Freezes the thread, as Lambda does: timers, sockets and unfinished work stop until the next invocation.
// Writes pending log lines first. An invocation that arrives meanwhile prevents the freeze.
const freeze = () =>
  process.stderr.write('', () => process.stdout.write('', () => busy || Atomics.wait(running, 0, 0)))

parentPort.on('message', async (message) => {
  busy = true
  if (running !== undefined) Atomics.store(running, 0, 0)
  try {
    const result = await run(JSON.parse(message.payload), contextOf(message))
    parentPort.postMessage({ kind: 'done', payload: JSON.stringify(result) ?? 'null' })
  } catch (error) {
    report('failed', 'Invoke Error', error)
  }
  busy = false
  if (running !== undefined) freeze()
})
