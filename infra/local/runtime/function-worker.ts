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

/** What worker-entry.mjs sends. The payload is the handler's result, or Lambda's error object. */
type Message = { kind: 'loaded' } | { kind: 'not-loaded' | 'done' | 'failed'; payload: string }
type Outcome = Pick<InvocationResult, 'payload' | 'functionError'>

/**
 * One execution environment of a function, as on Lambda: a thread with its own modules and environment, which
 * loads the bundle at once and runs one invocation at a time.
 */
export class FunctionWorker {
  private readonly model: FunctionModel
  private readonly log: FunctionLog
  private readonly thread: Worker
  private readonly loadFault: Promise<Outcome | undefined>
  private ended = false
  private retired = false
  private logTail = ''
  private uncaught: Outcome | undefined
  /** Answers the invocation that is running. */
  private settle: (outcome: Outcome) => void = () => undefined

  constructor(model: FunctionModel, environment: Record<string, string>, log: FunctionLog) {
    this.model = model
    this.log = log
    this.thread = startThread(model, environment)
    this.loadFault = this.waitForLoad()
    this.thread.on('message', (message: Message) => {
      if (message.kind === 'done') this.settle({ payload: message.payload, functionError: undefined })
      if (message.kind === 'failed') this.settle({ payload: message.payload, functionError: 'Unhandled' })
    })
    this.thread.on('error', (error) => {
      const { name, message } = error instanceof Error ? error : new Error(String(error))
      this.uncaught = fault(name, message)
      log.write(model.name, `ERROR Uncaught Exception ${this.uncaught.payload}`)
    })
    this.thread.on('exit', (code) => {
      this.ended = true
      this.settle(this.uncaught ?? exitFault(code))
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

  /** Makes it unusable for further invocations. The running one goes on to its end. */
  retire(): void {
    this.retired = true
  }

  /** Runs the handler, one call at a time. Resolves with Lambda's error object when the handler fails. */
  async run(payload: string): Promise<InvocationResult> {
    const requestId = randomUUID()
    this.logTail = ''
    const loadFault = await this.loadFault
    if (loadFault !== undefined) void this.terminate()
    return { ...(loadFault ?? (await this.invoke(requestId, payload))), requestId, logTail: this.logTail }
  }

  /** Ends the thread. The invocation that is running resolves as Lambda reports an exit. */
  async terminate(): Promise<void> {
    this.ended = true
    await this.thread.terminate()
  }

  private async waitForLoad(): Promise<Outcome | undefined> {
    const { promise, resolve } = Promise.withResolvers<Outcome | undefined>()
    const timeout = `init phase took longer than ${maxInitMilliseconds / 1000} seconds`
    const timer = setTimeout(() => resolve(fault('Sandbox.Timedout', timeout)), maxInitMilliseconds)
    this.thread.once('message', (message: Message) => {
      const failed = message.kind === 'not-loaded'
      resolve(failed ? { payload: message.payload, functionError: 'Unhandled' } : undefined)
    })
    this.thread.once('exit', () =>
      resolve(this.uncaught ?? fault('Runtime.ExitError', 'Runtime exited during init')),
    )
    return promise.finally(() => clearTimeout(timer))
  }

  private async invoke(requestId: string, payload: string): Promise<Outcome> {
    if (this.ended) return exitFault(1)
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.settle = resolve
    const { name, timeoutSeconds } = this.model
    const timer = setTimeout(() => {
      const reason = `RequestId: ${requestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`
      this.log.write(name, `ERROR ${reason}`)
      resolve(fault('Sandbox.Timedout', reason))
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

const exitFault = (code: number): Outcome =>
  fault('Runtime.ExitError', `Runtime exited with error: exit status ${code}`)

function fault(errorType: string, errorMessage: string): Outcome {
  return { payload: JSON.stringify({ errorType, errorMessage }), functionError: 'Unhandled' }
}
