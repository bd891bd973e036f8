import { setImmediate as endOfTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { callWithinInvocation, OutOfTime, pauseInvocation, runInvocation } from '../../shared/invocation.ts'
import { retry } from '../../shared/retry.ts'

/** An invocation that has ten seconds left. The function `run` keeps the last half second for the answer. */
const context = { getRemainingTimeInMillis: () => 10_000 }
const run = <T>(work: () => Promise<T>) => runInvocation(context, 500, work)

/** An AWS call that is never answered, and that ignores its abort signal. */
const hang = () => callWithinInvocation(() => new Promise(() => undefined))

const answerAfter = (milliseconds: number) =>
  callWithinInvocation(() => new Promise((resolve) => setTimeout(resolve, milliseconds)))

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = () => void (settled = true)
  promise.then(settle, settle)
  await vi.advanceTimersByTimeAsync(0)
  await endOfTurn()
  return settled
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

describe('the deadline of an invocation', () => {
  it('an invocation whose AWS call hangs fails half a second before Lambda’s timeout, with that cause', async () => {
    const result = run(hang).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(9_499)
    expect(await isSettled(result)).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await result).toEqual(new OutOfTime(true))
  })

  it('an invocation that runs out of time without a pending AWS call counts as the cause itself', async () => {
    const result = run(async () => {
      await answerAfter(20)
      await new Promise((resolve) => setTimeout(resolve, 9_490))
      await answerAfter(20)
    }).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(9_600)
    expect(await result).toEqual(new OutOfTime(false))
  })

  it('an operation that keeps failing is retried only until the deadline of the invocation', async () => {
    vi.useRealTimers()
    const loseRace = async () => {
      throw new Error('lost again')
    }
    const shortContext = { getRemainingTimeInMillis: () => 700 }
    const result = runInvocation(shortContext, 500, () => retry(loseRace, () => true))
    await expect(result).rejects.toThrow(OutOfTime)
  })

  it('an invocation that runs out of time before it tries again does not count as too slow itself', async () => {
    vi.useRealTimers()
    const shortContext = { getRemainingTimeInMillis: () => 510 }
    const error = runInvocation(shortContext, 500, () => pauseInvocation(60_000)).catch(
      (reason: unknown) => reason,
    )
    expect(await error).toHaveProperty('waited', true)
  })

  it('without a Lambda context there is no deadline', async () => {
    const result = runInvocation({}, 500, () => answerAfter(60_000))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await isSettled(result)).toBe(true)
  })

  it('when an invocation has ended, no timer is left that could fire in a later invocation', async () => {
    const result = run(() => answerAfter(20))
    await vi.advanceTimersByTimeAsync(20)
    await result
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('a failing invocation waits for its pending AWS calls before it answers', async () => {
  const fail = async () => {
    await answerAfter(10)
    throw new Error('no')
  }
  const result = run(() => Promise.all([answerAfter(50), fail()])).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(40)
  expect(await isSettled(result)).toBe(false)
  await vi.advanceTimersByTimeAsync(10)
  expect(await result).toEqual(new Error('no'))
})

it('after an invocation has ended, its remaining work starts no further AWS call', async () => {
  const second = vi.fn(async () => 'answer')
  const leftover = async () => {
    await answerAfter(50)
    return callWithinInvocation(second)
  }
  const result = run(() => Promise.all([leftover(), Promise.reject(new Error('no'))]))
  const rejection = expect(result).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(60)
  await rejection
  await endOfTurn()
  expect(second).not.toHaveBeenCalled()
})
