import { randomBytes, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import type { InvocationResult } from '../invocation.ts'
import type { FunctionModel } from '../model.ts'
import type { FunctionLog } from './function-log.ts'

/** One execution environment of a function: its own thread, modules and environment, one run at a time. */
export interface FunctionWorker {
  /** Runs the handler; call it only when the last run has resolved. Never rejects for what the function does. */
  run: (payload: string) => Promise<InvocationResult>
  /** False once the thread has ended or must not be used again. */
  readonly usable: () => boolean
  /** Ends the thread; a run under way resolves as Lambda reports an exit. */
  terminate: () => Promise<void>
}

/** How long a bundle may take to load before the environment is given up, in milliseconds. */
const initializationLimit = 30_000
/** What Invoke's log tail holds at most, in characters. */
const logTailLimit = 4096

type Message =
  | { kind: 'loaded' }
  | { kind: 'not-loaded'; error: LambdaError }
  | { kind: 'done'; payload: string }
  | { kind: 'failed'; error: LambdaError }

interface LambdaError {
  errorType: string
  errorMessage: string
  trace?: string[]
}

interface Outcome {
  payload: string
  functionError: InvocationResult['functionError']
}

/** Starts a worker that loads the function's bundle at once. */
export function startFunctionWorker(
  model: FunctionModel,
  environment: Record<string, string>,
  log: FunctionLog,
): FunctionWorker {
  const logStreamName = `local/[$LATEST]${randomBytes(16).toString('hex')}`
  const worker = new Worker(new URL('worker-entry.mjs', import.meta.url), {
    name: model.name,
    env: { ...environment, AWS_LAMBDA_LOG_STREAM_NAME: logStreamName },
    // The host's own flags (a test runner's loaders, say) are none of the function's business.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.max(64, model.memoryMegabytes) },
    workerData: {
      codeDirectory: model.codeDirectory,
      handler: model.handler,
      functionName: model.name,
      functionArn: model.arn,
      memoryMegabytes: model.memoryMegabytes,
      logStreamName,
    },
  })

  let ended = false
  let tail = ''
  let settle: ((outcome: Outcome) => void) | undefined
  let lastFault: LambdaError | undefined
  const finish = (outcome: Outcome) => {
    settle?.(outcome)
    settle = undefined
  }
  for (const stream of [worker.stdout, worker.stderr])
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', (text) => {
      tail = `${tail}${text}\n`.slice(-logTailLimit)
      log.write(model.name, text)
    })

  const loaded = new Promise<LambdaError | undefined>((resolve) => {
    const limit = setTimeout(() => {
      resolve({
        errorType: 'Sandbox.Timedout',
        errorMessage: `init phase took longer than ${initializationLimit / 1000} seconds`,
      })
      void worker.terminate()
    }, initializationLimit)
    worker.once('message', (message: Message) => {
      clearTimeout(limit)
      resolve(message.kind === 'not-loaded' ? message.error : undefined)
    })
    worker.once('exit', () => {
      clearTimeout(limit)
      resolve(lastFault ?? { errorType: 'Runtime.ExitError', errorMessage: 'Runtime exited during init' })
    })
  })
  worker.on('message', (message: Message) => {
    if (message.kind === 'done') finish({ payload: message.payload, functionError: undefined })
    if (message.kind === 'failed') finish(asFault(message.error))
  })
  worker.on('error', (error) => {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    lastFault = { errorType: name, errorMessage: message }
    log.write(model.name, `ERROR Uncaught Exception ${JSON.stringify(lastFault)}`)
  })
  worker.on('exit', (code) => {
    ended = true
    finish(asFault(lastFault ?? { errorType: 'Runtime.ExitError', errorMessage: exitMessage(code) }))
  })

  return {
    usable: () => !ended,
    terminate: async () => {
      ended = true
      await worker.terminate()
    },
    run: async (payload) => {
      const requestId = randomUUID()
      tail = ''
      const fault = await loaded
      if (fault !== undefined) {
        ended = true
        void worker.terminate()
        return { ...asFault(fault), requestId, logTail: tail }
      }
      const deadline = Date.now() + model.timeoutSeconds * 1000
      const outcome = await new Promise<Outcome>((resolve) => {
        settle = resolve
        if (ended) return finish(asFault({ errorType: 'Runtime.ExitError', errorMessage: exitMessage(1) }))
        const limit = setTimeout(() => {
          const errorMessage = `RequestId: ${requestId} Error: Task timed out after ${model.timeoutSeconds.toFixed(2)} seconds`
          log.write(model.name, `ERROR ${errorMessage}`)
          ended = true
          finish(asFault({ errorType: 'Sandbox.Timedout', errorMessage }))
          void worker.terminate()
        }, model.timeoutSeconds * 1000)
        settle = (result) => {
          clearTimeout(limit)
          resolve(result)
        }
        worker.postMessage({ requestId, payload, deadline })
      })
      return { ...outcome, requestId, logTail: tail }
    },
  }
}

const exitMessage = (code: number): string => `Runtime exited with error: exit status ${code}`

const asFault = (error: LambdaError): Outcome => ({
  payload: JSON.stringify(error),
  functionError: 'Unhandled',
})
