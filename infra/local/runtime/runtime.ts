import { type InvocationResult, type InvokeFunction, TooManyRequestsError } from '../invocation.ts'
import type { FunctionModel } from '../model.ts'
import type { FunctionLog } from './function-log.ts'
import { type FunctionWorker, startFunctionWorker } from './function-worker.ts'

/** How far functions scale out on one machine. */
export interface RuntimeBounds {
  workersPerFunction: number
  workersInTotal: number
  /** Invocations that may wait for a worker, per function; one more is refused as Lambda throttles. */
  waitingPerFunction: number
  /** A worker that has had nothing to do for so long is ended. */
  idleMilliseconds: number
}

/** Enough for a hundred simultaneous requests on a laptop: ten run, the others wait their turn. */
export const defaultBounds: RuntimeBounds = {
  workersPerFunction: 10,
  workersInTotal: 40,
  waitingPerFunction: 1000,
  idleMilliseconds: 120_000,
}

/** Runs the functions of a stage, each in its own workers. */
export interface Runtime {
  invoke: InvokeFunction
  /** Workers alive now, by function name. */
  countWorkers: () => Record<string, number>
  /** Ends every worker; what waits or runs resolves as a fault. */
  close: () => Promise<void>
}

export interface RuntimeOptions {
  functions: FunctionModel[]
  /** The whole environment of a function. */
  environmentOf: (model: FunctionModel) => Record<string, string>
  log: FunctionLog
  bounds?: Partial<RuntimeBounds>
}

interface Waiting {
  payload: string
  resolve: (result: InvocationResult) => void
  reject: (error: unknown) => void
}

interface Pool {
  model: FunctionModel
  workers: Set<FunctionWorker>
  /** The one used last is at the end and used first: the others grow old enough to be ended. */
  idle: { worker: FunctionWorker; since: number }[]
  waiting: Waiting[]
  /** When it last began a run, by a count of all runs. */
  servedAt: number
}

/** Makes a runtime; no worker starts before its first invocation. */
export function createRuntime({ functions, environmentOf, log, bounds }: RuntimeOptions): Runtime {
  const limits = { ...defaultBounds, ...bounds }
  const pools = new Map<string, Pool>(
    functions.map((model) => [
      model.logicalId,
      { model, workers: new Set<FunctionWorker>(), idle: [], waiting: [], servedAt: 0 },
    ]),
  )
  let closed = false
  let runs = 0

  const total = () => [...pools.values()].reduce((sum, { workers }) => sum + workers.size, 0)

  const drop = (pool: Pool, worker: FunctionWorker) => {
    pool.workers.delete(worker)
    pool.idle = pool.idle.filter((entry) => entry.worker !== worker)
    return worker.terminate()
  }

  const makeRoom = (): boolean => {
    if (total() < limits.workersInTotal) return true
    const [oldest] = [...pools.values()]
      .flatMap((pool) => pool.idle.map((entry) => ({ pool, ...entry })))
      .sort((a, b) => a.since - b.since)
    if (oldest === undefined) return false
    void drop(oldest.pool, oldest.worker)
    return true
  }

  const takeWorker = (pool: Pool): FunctionWorker | undefined => {
    const idle = pool.idle.pop()?.worker
    if (idle?.usable()) return idle
    if (idle !== undefined) void drop(pool, idle)
    if (pool.workers.size >= limits.workersPerFunction || !makeRoom()) return undefined
    const worker = startFunctionWorker(pool.model, environmentOf(pool.model), log)
    pool.workers.add(worker)
    return worker
  }

  const isStarved = (pool: Pool) => pool.waiting.length > 0 && pool.workers.size === 0

  const release = (pool: Pool, worker: FunctionWorker) => {
    const othersStarve = [...pools.values()].some((other) => other !== pool && isStarved(other))
    if (closed || !worker.usable() || othersStarve) void drop(pool, worker)
    else pool.idle.push({ worker, since: Date.now() })
    // Those without any worker go first, the one that has waited longest before all: a busy function keeps nobody out.
    const inTurn = [...pools.values()].sort(
      (a, b) => Number(isStarved(b)) - Number(isStarved(a)) || a.servedAt - b.servedAt,
    )
    inTurn.forEach(dispatch)
  }

  const dispatch = (pool: Pool) => {
    while (!closed && pool.waiting.length > 0) {
      const worker = takeWorker(pool)
      const next = worker === undefined ? undefined : pool.waiting.shift()
      if (worker === undefined || next === undefined) return
      runs += 1
      pool.servedAt = runs
      void worker
        .run(next.payload)
        .then(next.resolve, next.reject)
        .finally(() => release(pool, worker))
    }
  }

  const reaper = setInterval(
    () => {
      const before = Date.now() - limits.idleMilliseconds
      for (const pool of pools.values())
        for (const { worker, since } of pool.idle) if (since < before) void drop(pool, worker)
    },
    Math.max(50, limits.idleMilliseconds / 4),
  ).unref()

  return {
    invoke: async (functionLogicalId, payload) => {
      const pool = pools.get(functionLogicalId)
      if (pool === undefined) throw new Error(`no function ${functionLogicalId}`)
      const busy = pool.workers.size - pool.idle.length + pool.waiting.length
      const { reservedConcurrency: reserved = Number.POSITIVE_INFINITY } = pool.model
      if (busy >= reserved) throw new TooManyRequestsError('Rate Exceeded.')
      if (closed || pool.waiting.length >= limits.waitingPerFunction)
        throw new TooManyRequestsError('The local stack cannot take more for this function now.')
      return new Promise((resolve, reject) => {
        pool.waiting.push({ payload, resolve, reject })
        dispatch(pool)
      })
    },
    countWorkers: () =>
      Object.fromEntries([...pools.values()].map(({ model, workers }) => [model.name, workers.size])),
    close: async () => {
      closed = true
      clearInterval(reaper)
      for (const pool of pools.values())
        for (const { reject } of pool.waiting.splice(0))
          reject(new TooManyRequestsError('The local stack is stopping.'))
      await Promise.all([...pools.values()].flatMap((pool) => [...pool.workers].map((w) => drop(pool, w))))
    },
  }
}
