import { vi } from 'vitest'
import type { Scope } from '../../shared/tokens/scopes.ts'
import { createAccessToken } from './community.ts'
import { patience } from './quirks.ts'
import { address } from './oauth.ts'

/** Returns a function that calls endpoints of the local stack as a user; with a `body` it sends a POST. */
export const callWith =
  (everything: Scope[]) =>
  async (
    userId: number,
    path: string,
    { body, scopes = everything }: { body?: object; scopes?: Scope[] } = {},
  ) => {
    const authorization = `Bearer ${await createAccessToken(userId, scopes)}`
    const response = await fetch(
      address(path),
      body === undefined
        ? { headers: { authorization } }
        : {
            method: 'POST',
            headers: { authorization, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          },
    )
    const text = await response.text()
    const { code, data } = JSON.parse(text) as { code: number; data: unknown }
    return { status: response.status, code, data, text }
  }

/** Waits until a check passes, because events take effect asynchronously. */
export const eventually = <T>(check: () => Promise<T>) =>
  vi.waitFor(check, { timeout: patience(25_000), interval: 100 })
