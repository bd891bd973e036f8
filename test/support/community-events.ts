import { randomUUID } from 'node:crypto'
import { handler as purchased } from '../../functions/intake/package.purchased.ts'
import { handler as updated } from '../../functions/intake/user.updated.ts'
import { registerMember, type Registration } from '../../shared/community/join.ts'
import { putSignInRecord } from '../../shared/sign-in/record.ts'
import { normalizeEmail } from '../../shared/users/normalize-email.ts'
import { claimEmail, putUser } from '../../shared/registration/register.ts'
import { applyOnce, eventRecord } from '../../shared/events/event-record.ts'
import { applyEvent } from './apply-event.ts'

const early = 1_700_000_000_000

/** Registers a member as `user.registered` does, but without password and TOTP secret. */
export async function join(registration: Registration): Promise<void> {
  const { userId, nickname, email, referrerId, registeredAt } = registration
  const record = eventRecord('user.registered', String(userId), registration)
  const { writes, notify } = await registerMember(registration)
  const user = [
    putUser({ userId, nickname, email, referrerId, registeredAt }),
    claimEmail(normalizeEmail(email), userId),
    putSignInRecord(userId, { nickname, email }),
  ]
  await applyOnce(record, [...user, ...writes])
  await notify()
}

/** Applies the purchase of a package as the handler of `package.purchased` does. */
export async function buy(userId: number, amount: string, purchaseId: string = randomUUID()): Promise<void> {
  await applyEvent(purchased, { purchase_id: purchaseId, user_id: userId, amount, at: early })
}

/** Applies `user.updated` with a new name or address. The same arguments give the same update id. */
export async function rename(userId: number, nickname: string, at = 1, email?: string): Promise<void> {
  const update_id = `${userId}-${encodeURIComponent(nickname)}-${email ?? ''}`
  const detail = { update_id, user_id: userId, at: early + at, nickname, email }
  await applyEvent(updated, detail)
}
