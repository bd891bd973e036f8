import { randomBytes, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import type { FunctionModel } from '../model.ts'
import type { FunctionLog } from './function-log.ts'
import type { InvocationResult } from './runtime.ts'

/** A bundle that takes longer to load is given up. */
const maxInitMilliseconds = 30_000
/** The most that Invoke's `LogType: Tail` returns. */
const maxLogTailCharacters = 4096

interface LambdaError {
  errorType: string
  errorMessage: string
  trace?: string[]
}

type Message =
  | { kind: 'loaded' }
  | { kind: 'not-loaded'; error: LambdaError }
  | { kind: 'done'; payload: string }
  | { kind: 'failed'; error: LambdaError }

type Outcome = Pick<InvocationResult, 'payload' | 'functionError'>

/**
 * One execution environment of a function, as on Lambda: a thread with its own modules and environment, which
 * loads the bundle at once and runs one invocation at a time.
 */
export class FunctionWorker {
  private readonly model: FunctionModel
  private readonly log: FunctionLog
  private readonly thread: Worker
  private readonly loadError: Promise<LambdaError | undefined>
  private ended = false
  private retired = false
  private logTail = ''
  private uncaught: LambdaError | undefined
  /** Answers the invocation that is running. */
  private settle: (outcome: Outcome) => void = () => undefined

  constructor(model: FunctionModel, environment: Record<string, string>, log: FunctionLog) {
    this.model = model
    this.log = log
    this.thread = startThread(model, environment)
    this.loadError = this.waitForLoad()
    this.thread.on('message', (message: Message) => {
      if (message.kind === 'done') this.settle({ payload: message.payload, functionError: undefined })
      if (message.kind === 'failed') this.settle(asFault(message.error))
    })
    this.thread.on('error', (error) => {
      const { name, message } = error instanceof Error ? error : new Error(String(error))
      this.uncaught = { errorType: name, errorMessage: message }
      log.write(model.name, `ERROR Uncaught Exception ${JSON.stringify(this.uncaught)}`)
    })
    this.thread.on('exit', (code) => {
      this.ended = true
      this.settle(asFault(this.uncaught ?? exitError(code)))
    })
    for (const stream of [this.thread.stdout, this.thread.stderr])
      createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
        this.logTail = `${this.logTail}${line}\n`.slice(-maxLogTailCharacters)
        log.write(model.name, line)
      })
  }

  /** Whether it may be given a further invocation. */
  get usable(): boolean {
    return !this.ended && !this.retired
  }

  /** Lets it take no further invocation; the one that is running goes on to its end. */
  retire(): void {
    this.retired = true
  }

  /** Runs the handler, one call at a time. Resolves with Lambda's error object when the handler fails. */
  async run(payload: string): Promise<InvocationResult> {
    const requestId = randomUUID()
    this.logTail = ''
    const loadError = await this.loadError
    if (loadError !== undefined) void this.terminate()
    const outcome = loadError === undefined ? await this.invoke(requestId, payload) : asFault(loadError)
    return { ...outcome, requestId, logTail: this.logTail }
  }

  /** Ends the thread. The invocation that is running resolves as Lambda reports an exit. */
  async terminate(): Promise<void> {
    this.ended = true
    await this.thread.terminate()
  }

  private waitForLoad(): Promise<LambdaError | undefined> {
    return new Promise<LambdaError | undefined>((resolve) => {
      const timer = setTimeout(() => {
        const errorMessage = `init phase took longer than ${maxInitMilliseconds / 1000} seconds`
        resolve({ errorType: 'Sandbox.Timedout', errorMessage })
      }, maxInitMilliseconds)
      this.thread.once('message', (message: Message) => {
        clearTimeout(timer)
        resolve(message.kind === 'not-loaded' ? message.error : undefined)
      })
      this.thread.once('exit', () => {
        clearTimeout(timer)
        const errorMessage = 'Runtime exited during init'
        resolve(this.uncaught ?? { errorType: 'Runtime.ExitError', errorMessage })
      })
    })
  }

  private async invoke(requestId: string, payload: string): Promise<Outcome> {
    if (this.ended) return asFault(exitError(1))
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.settle = resolve
    const { timeoutSeconds } = this.model
    const timer = setTimeout(() => {
      const errorMessage = `RequestId: ${requestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`
      this.log.write(this.model.name, `ERROR ${errorMessage}`)
      resolve(asFault({ errorType: 'Sandbox.Timedout', errorMessage }))
      void this.terminate()
    }, timeoutSeconds * 1000)
    this.thread.postMessage({ requestId, payload, deadline: Date.now() + timeoutSeconds * 1000 })
    return promise.finally(() => clearTimeout(timer))
  }
}

function startThread(model: FunctionModel, environment: Record<string, string>): Worker {
  const logStreamName = `local/[$LATEST]${randomBytes(16).toString('hex')}`
  return new Worker(new URL('worker-entry.mjs', import.meta.url), {
    name: model.name,
    env: { ...environment, AWS_LAMBDA_LOG_STREAM_NAME: logStreamName },
    // The host's own flags, such as a test runner's loaders, are not meant for the function.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.max(64, model.memoryMegabytes) },
    workerData: { model, logStreamName },
  })
}

const exitError = (code: number): LambdaError => ({
  errorType: 'Runtime.ExitError',
  errorMessage: `Runtime exited with error: exit status ${code}`,
})

const asFault = (error: LambdaError): Outcome => ({
  payload: JSON.stringify(error),
  functionError: 'Unhandled',
})
