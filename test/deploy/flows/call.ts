import { setTimeout as wait } from 'node:timers/promises'
import * as v from 'valibot'
import { requireEnv } from '../../../shared/env.ts'

const Envelope = v.object({ code: v.number(), data: v.unknown() })

/** Calls the deployed API, by POST if there is a body. Returns status, text, and the envelope's members. */
export async function call(path: string, { token, body }: { token?: string; body?: object } = {}) {
  const response = await fetch(requireEnv('BASE_URL') + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, ...v.parse(Envelope, JSON.parse(text)) }
}

/**
 * Repeats a check until it passes, at most for `maxMilliseconds`; then throws the last error. Pauses double
 * up to `maxPauseMilliseconds`, so that repeated sign-ins do not count as guessing.
 */
export async function eventually<T>(
  check: () => Promise<T>,
  { maxMilliseconds = 120_000, maxPauseMilliseconds = 30_000 } = {},
): Promise<T> {
  const end = Date.now() + maxMilliseconds
  for (let pause = 500; ; pause = Math.min(2 * pause, maxPauseMilliseconds)) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() + pause > end) throw error
      await wait(pause)
    }
  }
}
