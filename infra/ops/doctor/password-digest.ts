import * as v from 'valibot'
import { invokeFunction } from '../functions.ts'
import type { Target } from '../target.ts'
import type { Finding } from './finding.ts'

const Answer = v.object({ passwordDigest: v.string(), milliseconds: v.number(), runtime: v.string() })

/**
 * Has the sign-in function digest a password: Lambda builds its own Node.js, whose cryptography may differ.
 * The function itself proves it, with its memory and its permission for the KMS key of the MAC.
 */
export async function checkPasswordDigest({ namePrefix }: Pick<Target, 'namePrefix'>): Promise<Finding> {
  const answer = await invokeFunction(`${namePrefix}user-login-with-password`, { action: 'self-check' })
  const { passwordDigest, milliseconds, runtime } = v.parse(Answer, answer)
  return { ok: true, words: `${passwordDigest} in ${milliseconds} ms on Node.js ${runtime}` }
}
