import type { FunctionModel } from '../model.ts'
import type { FunctionLog } from './function-log.ts'
import { FunctionWorker, type InvocationResult } from './function-worker.ts'

/**
 * Runs a function with a JSON payload. Resolves even if the function fails. Rejects with
 * `TooManyRequestsError` if too many calls already wait for the function.
 */
export type InvokeFunction = (
  functionName: string,
  payload: string,
  /** The call times out after this time, or after the function's own timeout if that is shorter. */
  endAfterMilliseconds?: number,
) => Promise<InvocationResult>

/** Thrown if a function cannot run now (Lambda: `TooManyRequestsException`). The caller can try again. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsError'
}

const defaultLimits = {
  maxWorkersPerFunction: 10,
  maxWorkers: 40,
  /** Maximum number of invocations per function that wait for a worker; further ones are throttled. */
  maxWaitingPerFunction: 1000,
  /** Maximum idle time of a worker, after which it is ended. */
  maxIdleMilliseconds: 120_000,
}

/** Limits on the functions' workers, and on the invocations that wait for a worker. */
export type RuntimeLimits = typeof defaultLimits

export interface RuntimeOptions {
  functions: FunctionModel[]
  environmentOf: (model: FunctionModel) => Record<string, string>
  log: FunctionLog
  /** Whether a worker freezes between two invocations, as on Lambda. Default: it keeps running. */
  freezes?: boolean
  limits?: Partial<RuntimeLimits>
}

interface WaitingInvocation {
  payload: string
  endAfterMilliseconds: number | undefined
  resolve: (result: InvocationResult) => void
  reject: (error: unknown) => void
}

/** The workers of a function, and the invocations that wait for them. */
interface Pool {
  model: FunctionModel
  workers: Set<FunctionWorker>
  /**
   * Idle workers in the order of their last use. The most recently used worker gets the next invocation, so
   * that the other workers are idle long enough to be ended.
   */
  idle: { worker: FunctionWorker; since: number }[]
  waiting: WaitingInvocation[]
  /** Sequence number of the function's last run. The function with the lowest number has waited longest. */
  lastRun: number
}

/** Runs the functions of a stage, each in its own workers, which are started on demand. */
export class Runtime {
  private readonly options: RuntimeOptions
  private readonly limits: RuntimeLimits
  private readonly pools: Map<string, Pool>
  private readonly idleCheck: NodeJS.Timeout
  private closed = false
  private runs = 0

  constructor(options: RuntimeOptions) {
    this.options = options
    this.limits = { ...defaultLimits, ...options.limits }
    this.pools = new Map(options.functions.map((model) => [model.name, createPool(model)]))
    const checkMilliseconds = Math.max(50, this.limits.maxIdleMilliseconds / 4)
    this.idleCheck = setInterval(() => this.endIdle(), checkMilliseconds).unref()
  }

  readonly invoke: InvokeFunction = async (functionName, payload, endAfterMilliseconds) => {
    const pool = this.pools.get(functionName)
    if (pool === undefined) throw new Error(`no function ${functionName}`)
    if (this.closed || pool.waiting.length >= this.limits.maxWaitingPerFunction)
      throw new TooManyRequestsError('The local stack cannot take more for this function now.')
    return new Promise((resolve, reject) => {
      pool.waiting.push({ payload, endAfterMilliseconds, resolve, reject })
      this.dispatch(pool)
    })
  }

  countWorkers(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { model, workers } of this.pools.values()) counts[model.name] = workers.size
    return counts
  }

  /** Ends every worker. Running invocations resolve with `Runtime.ExitError`; waiting ones are rejected. */
  async close(): Promise<void> {
    this.closed = true
    clearInterval(this.idleCheck)
    const pools = [...this.pools.values()]
    for (const { reject } of pools.flatMap((pool) => pool.waiting.splice(0)))
      reject(new TooManyRequestsError('The local stack is stopping.'))
    await Promise.all(pools.flatMap((pool) => [...pool.workers].map((worker) => this.drop(pool, worker))))
  }

  private dispatch(pool: Pool): void {
    while (!this.closed && pool.waiting.length > 0) {
      const worker = this.takeWorker(pool)
      const next = worker === undefined ? undefined : pool.waiting.shift()
      if (worker === undefined || next === undefined) return
      this.runs += 1
      pool.lastRun = this.runs
      void worker
        .run(next.payload, next.endAfterMilliseconds)
        .then(next.resolve, next.reject)
        .finally(() => this.release(pool, worker))
    }
  }

  private takeWorker(pool: Pool): FunctionWorker | undefined {
    const idle = pool.idle.pop()?.worker
    if (idle?.usable) return idle
    if (idle !== undefined) void this.drop(pool, idle)
    if (pool.workers.size >= this.limits.maxWorkersPerFunction || !this.makeRoom()) return undefined
    const { environmentOf, log, freezes = false } = this.options
    const worker = new FunctionWorker(pool.model, environmentOf(pool.model), log, freezes)
    pool.workers.add(worker)
    return worker
  }

  private release(pool: Pool, worker: FunctionWorker): void {
    const others = [...this.pools.values()].filter((other) => other !== pool)
    const keep = !this.closed && worker.usable && !others.some(isStarved)
    if (keep) pool.idle.push({ worker, since: Date.now() })
    else void this.drop(pool, worker)
    // Functions without a worker come first, then those that have waited longest.
    const inTurn = [pool, ...others].sort(
      (a, b) => Number(isStarved(b)) - Number(isStarved(a)) || a.lastRun - b.lastRun,
    )
    for (const next of inTurn) this.dispatch(next)
  }

  /** At the limit of workers, ends the one that has been idle longest. Returns whether a worker can start. */
  private makeRoom(): boolean {
    const pools = [...this.pools.values()]
    if (pools.reduce((sum, { workers }) => sum + workers.size, 0) < this.limits.maxWorkers) return true
    const [oldest] = pools
      .flatMap((pool) => pool.idle.map((entry) => ({ pool, ...entry })))
      .sort((a, b) => a.since - b.since)
    if (oldest === undefined) return false
    void this.drop(oldest.pool, oldest.worker)
    return true
  }

  private endIdle(): void {
    const before = Date.now() - this.limits.maxIdleMilliseconds
    for (const pool of this.pools.values())
      for (const { worker, since } of pool.idle) if (since < before) void this.drop(pool, worker)
  }

  private drop(pool: Pool, worker: FunctionWorker): Promise<void> {
    pool.workers.delete(worker)
    pool.idle = pool.idle.filter((entry) => entry.worker !== worker)
    return worker.terminate()
  }
}

const createPool = (model: FunctionModel): Pool => ({
  model,
  workers: new Set(),
  idle: [],
  waiting: [],
  lastRun: 0,
})

const isStarved = ({ waiting, workers }: Pool): boolean => waiting.length > 0 && workers.size === 0
