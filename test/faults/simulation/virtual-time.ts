import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import timersPromises from 'node:timers/promises'

/** An invocation of a function, or other work that runs in virtual time. */
export interface Task {
  /** Name of the task, the same in every run with the same seed. */
  name: string
  time: VirtualTime
  /** Whether the process of the task was killed. A killed task makes no more calls. */
  killed: boolean
  /** How far the clock of the task's process is ahead, in milliseconds; negative if it is behind. */
  clockOffset: number
  /** Replaces Math.random in the task. */
  random: () => number
}

/** The running task. Code outside of tasks uses the machine's real time. */
export const currentTask = new AsyncLocalStorage<Task>()

interface Event {
  /** Milliseconds since the simulation began. Epoch milliseconds would leave fewer digits for fractions. */
  at: number
  order: number
  run: () => unknown
}

/** Types of Node.js resources that may be open although no work is in progress. */
const idleResources =
  /^(TCP|Pipe|TTY|Process|Signal)\w*Wrap$|^(Timeout|Immediate|MessagePort|CloseReq|TTYWrap)$/

const maxIdleTurns = 1_000
const maxSettleMilliseconds = 10_000

/**
 * The clock of a simulation. It stands still while code runs, and then jumps to the next event, such as a
 * timer or an AWS call. One event runs at a time, so that a run depends only on its seed.
 */
export class VirtualTime {
  /** The current virtual time, epoch milliseconds. */
  now: number
  readonly #beginning: number
  #order = 0
  readonly #events = new Set<Event>()

  constructor(now: number) {
    this.now = now
    this.#beginning = now
  }

  /** Number of events that have run so far. It orders what happens at the same instant. */
  step = 0

  /** Runs something after this many milliseconds. Returns a function that cancels it. */
  after(milliseconds: number, run: () => unknown): () => void {
    const at = this.now - this.#beginning + Math.max(0, milliseconds)
    const event = { at, order: this.#order, run }
    this.#order += 1
    this.#events.add(event)
    return () => this.#events.delete(event)
  }

  pass(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, () => resolve()))
  }

  /** Runs something at the current instant. Virtual time stands still until it is done. */
  perform<Result>(run: () => Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.after(0, () => run().then(resolve, reject))
    return promise
  }

  /** Runs events in order until `isDone` returns true. Throws if the events run out earlier. */
  async runUntil(isDone: () => boolean): Promise<void> {
    for (let idle = 0; ;) {
      await settle()
      if (isDone()) return
      let next: Event | undefined
      for (const event of this.#events)
        if (next === undefined || event.at < next.at || (event.at === next.at && event.order < next.order))
          next = event
      if (next === undefined) {
        // No event is due, but a long computation may still be running. When it ends, it may call AWS.
        idle += 1
        if (idle === maxIdleTurns) throw new Error('something waits for what never comes')
        continue
      }
      idle = 0
      this.#events.delete(next)
      this.now = Math.max(this.now, this.#beginning + Math.floor(next.at))
      this.step += 1
      await next.run()
    }
  }
}

/** Draws the random bytes of tasks from the seed, so that all runs with the same seed get the same bytes. */
function seedCrypto(): void {
  const { randomBytes } = crypto
  const seeded = (size: number): Buffer => {
    const task = currentTask.getStore()
    if (task === undefined) return randomBytes(size)
    return crypto.createHash('shake256', { outputLength: size }).update(String(task.random())).digest()
  }
  Object.assign(crypto, { randomBytes: seeded })
}

/** Number of pending WebCrypto operations, which getActiveResourcesInfo of Node.js does not show. */
let digests = 0

function countDigests(): void {
  for (const name of Object.getOwnPropertyNames(SubtleCrypto.prototype)) {
    const value: unknown = Object.getOwnPropertyDescriptor(SubtleCrypto.prototype, name)?.value
    if (typeof value !== 'function' || name === 'constructor') continue
    const run = value as (this: unknown, ...parameters: unknown[]) => Promise<unknown>
    const counted = function (this: unknown, ...parameters: unknown[]) {
      digests += 1
      return run.apply(this, parameters).finally(() => (digests -= 1))
    }
    Object.defineProperty(SubtleCrypto.prototype, name, { value: counted })
  }
}

/**
 * Replaces Argon2 with a quick hash, because Node.js does not show whether Argon2's thread is still at work.
 * The simulation does not test how hard passwords are to guess.
 */
function digestPasswordsAtOnce(): void {
  crypto.argon2 = (algorithm, { message, nonce, tagLength: outputLength }, callback) => {
    const digest = crypto.createHash('shake256', { outputLength }).update(algorithm)
    for (const part of [message, nonce]) digest.update(crypto.hash('sha256', toBytes(part), 'buffer'))
    callback(null, digest.digest())
  }
}

const toBytes = (part: NodeJS.ArrayBufferView | ArrayBuffer | string) =>
  part instanceof ArrayBuffer ? Buffer.from(part) : part

/** Waits until all code that can run has run, and Node.js has no work in progress. */
async function settle(): Promise<void> {
  const end = performance.now() + maxSettleMilliseconds
  for (let quiet = 0; quiet < 2; quiet += 1) {
    await endOfTurn()
    const busy = process.getActiveResourcesInfo().filter((name) => !idleResources.test(name))
    if (busy.length > 0 || digests > 0) quiet = -1
    if (performance.now() > end) throw new Error(`the process does not come to rest: ${busy.join(', ')}`)
  }
}

/** The time on the clock of the running task, in epoch milliseconds; undefined outside of tasks. */
function virtualNow(): number | undefined {
  const task = currentTask.getStore()
  return task && task.time.now + task.clockOffset
}

/** Gives each task of this process the clock, timers and random numbers of the task's simulation. */
export function installVirtualTime(): void {
  const real = { Date, setTimeout, clearTimeout, setInterval, clearInterval, random: Math.random }
  const realWait = timersPromises.setTimeout
  const now = performance.now.bind(performance)

  globalThis.Date = new Proxy(real.Date, {
    construct(target, values: unknown[], newTarget) {
      const now = virtualNow()
      const given = values.length === 0 && now !== undefined ? [now] : values
      return Reflect.construct(target, given, newTarget) as Date
    },
    get(target, name, receiver) {
      if (name === 'now') return () => virtualNow() ?? target.now()
      return Reflect.get(target, name, receiver) as unknown
    },
  })
  Math.random = () => currentTask.getStore()?.random() ?? real.random()
  performance.now = () => currentTask.getStore()?.time.now ?? now()

  const later = (task: Task, run: () => void, milliseconds = 0) => {
    const inContext = AsyncLocalStorage.snapshot()
    const timer = { cancel: task.time.after(milliseconds, () => inContext(run)) }
    const self = () => timer
    return Object.assign(timer, { ref: self, unref: self, hasRef: () => true, refresh: self })
  }
  type Timer = NodeJS.Timeout | { cancel: () => void } | undefined
  const patched = {
    setTimeout: (run: (...rest: unknown[]) => void, milliseconds?: number, ...rest: unknown[]): unknown => {
      const task = currentTask.getStore()
      if (task === undefined) return real.setTimeout(run, milliseconds, ...rest)
      return later(task, () => run(...rest), milliseconds)
    },
    clearTimeout: (timer: Timer) => {
      if (typeof timer === 'object' && 'cancel' in timer) timer.cancel()
      else real.clearTimeout(timer)
    },
  }
  Object.assign(globalThis, patched)
  Object.assign(timersPromises, {
    setTimeout: (milliseconds?: number, value?: unknown, options?: object) => {
      const task = currentTask.getStore()
      if (task === undefined) return realWait(milliseconds, value, options)
      return new Promise((resolve) => later(task, () => resolve(value), milliseconds))
    },
  })
  seedCrypto()
  countDigests()
  digestPasswordsAtOnce()
  syncBuiltinESMExports()
}
