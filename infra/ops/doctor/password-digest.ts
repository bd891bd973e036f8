import { randomBytes, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { failures } from '../../../shared/errors.ts'
import { unknownAddress } from './api.ts'
import type { Finding } from './finding.ts'

const Answer = v.object({ code: v.number() })

/**
 * Signs in with an address that nobody has, for which the service digests the password as for any other:
 * Lambda builds its own Node.js, whose cryptography may differ.
 */
export async function checkPasswordDigest(baseUrl: string | undefined): Promise<Finding> {
  if (baseUrl === undefined) return unknownAddress
  const body = {
    email: `nobody-${randomUUID()}@example.invalid`,
    login_password: randomBytes(16).toString('hex'),
  }
  const start = performance.now()
  const answer = await fetch(`${baseUrl}/user/login-with-password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  })
  const { code } = v.parse(Answer, await answer.json())
  return {
    ok: code === failures.bad_credentials.code,
    words: `a wrong password is answered ${code} in ${Math.round(performance.now() - start)} ms`,
  }
}
