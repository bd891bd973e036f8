import type { User } from '../../../shared/users/user.ts'
import { formatInstant } from '../terminal.ts'

/** A user without anything that signs in. */
export const describeUser = (user: User) => ({
  user_id: user.userId,
  email: user.email,
  nickname: user.nickname,
  disabled: user.disabled,
  password: user.loginPassword !== undefined,
  authenticator: user.totpSecret !== undefined,
  passkey: user.passkey,
  referrer_id: user.referrerId ?? null,
  registered_at: user.registeredAt,
})

/** The same for a person. */
export function formatUser(user: User): string {
  const facts = describeUser(user)
  return Object.entries({ ...facts, registered_at: formatInstant(facts.registered_at) })
    .map(([name, value]) => `${name.padEnd(14)}${String(value ?? '-')}`)
    .join('\n')
}
