import * as v from 'valibot'
import { readItems } from '../db/read.ts'
import { Integer } from '../db/table.ts'
import { emailKey, readUser, replacePasswordHash, type User } from '../users/user.ts'
import { Failure } from '../errors.ts'
import { normalizeEmail } from '../users/identity.ts'
import { recordFailedGuess, guessLimits, enforceGuessLimit } from './guess-limit.ts'
import { dummyHash, hashPassword, verifyPassword } from './hash-password.ts'
import { sourceNetwork } from './source-network.ts'

/** No user has this id: reading it takes the place of reading a user where there is none. */
const nobody = 0

const EmailItem = v.object({ user_id: Integer })

/**
 * The user whose address and password these are. Throws `bad_credentials`, which an unknown address, a wrong password,
 * a user without one and a disabled user answer alike, after the same calls and the same work; or `too_many_requests`
 * to a source that has guessed too often.
 */
export async function checkPassword(email: string, password: string, sourceIp: string): Promise<User> {
  const now = Date.now()
  const address = normalizeEmail(email)
  const limits = guessLimits(sourceNetwork(sourceIp), address)
  const [claimed, ...counters] = await readItems([emailKey(address), ...limits.map(({ key }) => key)], {
    consistent: true,
  })
  enforceGuessLimit(limits, counters, now)
  const userId = claimed === undefined ? nobody : v.parse(EmailItem, claimed).user_id
  const user = await readUser(userId, { consistent: true })
  const { right, outdated } = await verifyPassword(password, user?.loginPassword ?? dummyHash)
  if (!right || user?.loginPassword === undefined || user.disabled) {
    await recordFailedGuess(limits, counters, now)
    throw new Failure('bad_credentials')
  }
  if (outdated) await replacePasswordHash(userId, user.loginPassword, await hashPassword(password))
  return user
}
