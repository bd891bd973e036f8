import { setTimeout as wait } from 'node:timers/promises'
import { deadlineSignal } from './invocation.ts'

/** Retry limits for everything in the service that is retried: about three seconds of waiting in total. */
export const maxAttempts = 40
const baseWaitMilliseconds = 5
const maxWaitMilliseconds = 150

/**
 * Runs `attempt` until it succeeds. Throws the error of an attempt that is not retryable or was the last of
 * `maxAttempts`, and OutOfTime at the deadline of the invocation. Waits between attempts with exponential
 * backoff and full jitter, so that competing processes do not retry at the same time.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  isRetryable: (error: unknown) => boolean,
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (attempts === maxAttempts || !isRetryable(error)) throw error
    }
    deadlineSignal()?.throwIfAborted()
    await wait(Math.random() * Math.min(maxWaitMilliseconds, baseWaitMilliseconds * 2 ** attempts))
  }
}
