import { pauseInvocation } from './invocation.ts'

/** Maximum number of attempts at anything that is retried; the waits between them total about 3 s. */
export const maxAttempts = 40
const baseWaitMilliseconds = 5
const maxWaitMilliseconds = 150

/**
 * Runs `attempt` until it succeeds. Gives up at an error that is not retryable, after the last attempt, and
 * at the deadline of the invocation (OutOfTime). Waits with exponential backoff and full jitter, so that
 * competing processes do not retry at the same time.
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
    await backOff(attempts)
  }
}

/** Waits before the next attempt, after `attempts` attempts. Throws OutOfTime at the deadline. */
export const backOff = (attempts: number): Promise<void> =>
  pauseInvocation(Math.random() * Math.min(maxWaitMilliseconds, baseWaitMilliseconds * 2 ** attempts))
