// The inside of a function's worker: loads the bundle's handler once, then runs it for every message, as
// Lambda's own runtime client does. Plain JavaScript on purpose: stripping types first costs every worker 40 ms.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'

const { codeDirectory, handler, functionName, functionArn, memoryMegabytes, logStreamName } = workerData

/** Lambda's way to write an error down for the caller. */
function describe(error) {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] }
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') }
}

async function loadHandler() {
  const dot = handler.lastIndexOf('.')
  const [file, name] = [handler.slice(0, dot), handler.slice(dot + 1)]
  const found = ['.js', '.mjs', '.cjs']
    .map((end) => join(codeDirectory, file + end))
    .find((path) => existsSync(path))
  if (found === undefined) {
    const error = new Error(`Error: Cannot find module '${file}'`)
    error.name = 'Runtime.ImportModuleError'
    throw error
  }
  const module = await import(pathToFileURL(found).href)
  const run = module[name] ?? module.default?.[name]
  if (typeof run !== 'function') {
    const error = new Error(`${handler} is undefined or not exported`)
    error.name = 'Runtime.HandlerNotFound'
    throw error
  }
  return run
}

const contextOf = ({ requestId, deadline }) => ({
  callbackWaitsForEmptyEventLoop: true,
  functionName,
  functionVersion: '$LATEST',
  invokedFunctionArn: functionArn,
  memoryLimitInMB: String(memoryMegabytes),
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
  console.error('Uncaught Exception', JSON.stringify(describe(error)))
  parentPort.postMessage({ kind: 'not-loaded', error: describe(error) })
}

parentPort.on('message', async (message) => {
  try {
    const result = await run(JSON.parse(message.payload), contextOf(message))
    parentPort.postMessage({ kind: 'done', payload: JSON.stringify(result) ?? 'null' })
  } catch (error) {
    console.error('Invoke Error', JSON.stringify(describe(error)))
    parentPort.postMessage({ kind: 'failed', error: describe(error) })
  }
})
