import type { Context } from 'aws-lambda'
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * The time of an invocation ran out, and its AWS calls were aborted. Whether a write among these calls has
 * taken effect is unknown.
 */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
  /** Whether the invocation waited when its time ran out: for AWS, or before it tries again. */
  readonly waited: boolean

  constructor(waited: boolean) {
    super('the time of the invocation ran out')
    this.waited = waited
  }
}

interface Invocation {
  deadline: AbortController
  calls: Set<Promise<unknown>>
  ended: boolean
}

const invocations = new AsyncLocalStorage<Invocation>()

/** The part of Lambda's context that is used. Without `getRemainingTimeInMillis`, there is no deadline. */
export type RunContext = Partial<Pick<Context, 'getRemainingTimeInMillis'>>

/**
 * Runs the work of an invocation. When only `reserveMilliseconds` are left, any AWS call or retry throws
 * OutOfTime. Waits for pending AWS calls before it settles. Otherwise, they would go on in a later
 * invocation, because Lambda freezes the process in between.
 */
export async function runInvocation<T>(
  { getRemainingTimeInMillis }: RunContext,
  reserveMilliseconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const invocation: Invocation = { deadline: new AbortController(), calls: new Set(), ended: false }
  const expire = () => invocation.deadline.abort(new OutOfTime(invocation.calls.size > 0))
  const timer =
    getRemainingTimeInMillis &&
    setTimeout(expire, Math.max(0, getRemainingTimeInMillis() - reserveMilliseconds))
  try {
    return await invocations.run(invocation, work)
  } finally {
    invocation.ended = true
    await Promise.allSettled(invocation.calls)
    clearTimeout(timer)
  }
}

/** Signal that aborts with OutOfTime at the deadline of the running invocation; undefined if none runs. */
export const deadlineSignal = (): AbortSignal | undefined => invocations.getStore()?.deadline.signal

/**
 * Performs an AWS call within the running invocation. Fails with OutOfTime at the deadline. Throws if the
 * invocation has ended, for example when work goes on after a failed `Promise.all`.
 */
export async function callWithinInvocation<T>(
  perform: (deadline: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const invocation = invocations.getStore()
  if (invocation === undefined) return perform(undefined)
  const { signal } = invocation.deadline
  signal.throwIfAborted()
  if (invocation.ended) throw new Error('the invocation has its result already')
  const call = endWith(signal, perform(signal))
  invocation.calls.add(call)
  try {
    return await call
  } finally {
    invocation.calls.delete(call)
  }
}

/**
 * Waits within the running invocation. Fails with OutOfTime at the deadline: an invocation that has spent its
 * time on slow calls of AWS may be between two of them.
 */
export const pauseInvocation = (milliseconds: number): Promise<void> =>
  callWithinInvocation((signal) => wait(milliseconds, undefined, { signal }))

/** Resolves or rejects as the call does. If the signal aborts first, rejects with the signal's reason. */
const endWith = <T>(signal: AbortSignal, call: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const end = () => reject(signal.reason as Error)
    signal.addEventListener('abort', end, { once: true })
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
