import { randomBytes, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import type { FunctionModel } from '../model.ts'
import type { FunctionLog } from './function-log.ts'

/** Maximum time to load a function's bundle. */
const maxInitMilliseconds = 30_000

/** A message from worker-entry.mjs. Its payload is the handler's result, or Lambda's error object. */
type Message = { kind: 'loaded' } | { kind: 'not-loaded' | 'done' | 'failed'; payload: string }

/** The result of one run of a function, as Lambda's Invoke reports it. */
export interface InvocationResult {
  /** Result of the handler as JSON text (`null` if it returned nothing), or Lambda's error object. */
  payload: string
  /** Set if the function failed, timed out or exited; `payload` is then the error object. */
  functionError?: 'Unhandled' | undefined
}

/**
 * One execution environment of a function, as on Lambda: a thread with its own modules and environment
 * variables. The thread loads the bundle when it starts, and runs one invocation at a time.
 */
export class FunctionWorker {
  private readonly model: FunctionModel
  private readonly log: FunctionLog
  private readonly thread: Worker
  /** Flag for the thread: 1 while it must run, 0 while it may freeze; undefined if it never freezes. */
  private readonly running: Int32Array<SharedArrayBuffer> | undefined
  private readonly loadFault: Promise<InvocationResult | undefined>
  private ended = false
  private uncaught: InvocationResult | undefined
  /** Resolves the running invocation. */
  private settle: (outcome: InvocationResult) => void = () => undefined

  constructor(model: FunctionModel, environment: Record<string, string>, log: FunctionLog, freezes: boolean) {
    this.model = model
    this.log = log
    this.running = freezes ? new Int32Array(new SharedArrayBuffer(4)) : undefined
    this.thread = startThread(model, environment, this.running)
    this.loadFault = this.waitForLoad()
    this.thread.on('message', (message: Message) => {
      if (message.kind === 'done') this.settle({ payload: message.payload })
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
        log.write(model.name, line)
      })
  }

  /** Whether the worker can take another invocation. */
  get usable(): boolean {
    return !this.ended
  }

  /** Runs an invocation (only one at a time). A failed invocation resolves with Lambda's error object. */
  async run(payload: string, endAfterMilliseconds = Infinity): Promise<InvocationResult> {
    const loadFault = await this.loadFault
    if (loadFault !== undefined) void this.terminate()
    return loadFault ?? this.invoke(payload, endAfterMilliseconds)
  }

  /** Ends the worker's thread. The running invocation resolves with `Runtime.ExitError`, as on Lambda. */
  async terminate(): Promise<void> {
    this.ended = true
    await this.thread.terminate()
  }

  private async waitForLoad(): Promise<InvocationResult | undefined> {
    const { promise, resolve } = Promise.withResolvers<InvocationResult | undefined>()
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

  private async invoke(payload: string, endAfter: number): Promise<InvocationResult> {
    if (this.ended) return exitFault(1)
    const requestId = randomUUID()
    const { promise, resolve } = Promise.withResolvers<InvocationResult>()
    this.settle = resolve
    const { name, timeoutSeconds } = this.model
    let answered = false
    const end = () => {
      if (answered) return
      const reason = `RequestId: ${requestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`
      this.log.write(name, `ERROR ${reason}`)
      resolve(fault('Sandbox.Timedout', reason))
      void this.terminate()
    }
    // An answer may have come in time while this thread was busy. setImmediate lets it be handled first.
    const timer = setTimeout(() => setImmediate(end), Math.min(timeoutSeconds * 1000, endAfter))
    if (this.running !== undefined) {
      Atomics.store(this.running, 0, 1)
      Atomics.notify(this.running, 0)
    }
    this.thread.postMessage({ requestId, payload, deadline: Date.now() + timeoutSeconds * 1000 })
    return promise.finally(() => {
      answered = true
      clearTimeout(timer)
    })
  }
}

function startThread(
  model: FunctionModel,
  environment: Record<string, string>,
  running: Int32Array | undefined,
): Worker {
  const logStreamName = `local/[$LATEST]${randomBytes(16).toString('hex')}`
  return new Worker(new URL('worker-entry.mjs', import.meta.url), {
    name: model.name,
    env: { ...environment, AWS_LAMBDA_LOG_STREAM_NAME: logStreamName },
    // Without this empty list, functions would get the Node.js options of this process, such as loaders.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.max(64, model.memoryMegabytes) },
    workerData: { model, logStreamName, running },
  })
}

const exitFault = (code: number): InvocationResult =>
  fault('Runtime.ExitError', `Runtime exited with error: exit status ${code}`)

function fault(errorType: string, errorMessage: string): InvocationResult {
  return { payload: JSON.stringify({ errorType, errorMessage }), functionError: 'Unhandled' }
}
