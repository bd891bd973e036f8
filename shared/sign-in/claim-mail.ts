import { parseUser, type User, userKey } from '../db/user.ts'
import { ConditionFailed, writeItem } from '../db/write.ts'

const hourMilliseconds = 3_600_000

/** Each mail takes one of five slots for an hour, so that no hour, wherever it begins, has more than five. */
const slots = ['s0', 's1', 's2', 's3', 's4']

/** Whether a mail may be sent, and if not, how long until the next may. */
export type MailClaim = { allowed: true } | { allowed: false; retryAfterSeconds: number }

/** Takes one of a user's mails of this hour, atomically; `user` is the user as just read. */
export async function claimMail(user: User, now: number): Promise<MailClaim> {
  let mails = user.mails
  for (;;) {
    const free = slots.find((slot) => (mails[slot] ?? 0) <= now - hourMilliseconds)
    if (free === undefined) return refusal(mails, now)
    const taken = await claimSlot(user.userId, free, now)
    if (taken === undefined) return { allowed: true }
    // Every further round sees at least one slot more in use, so there are at most as many rounds as slots.
    mails = taken
  }
}

/** Resolves with undefined, or, when a login at the same time took the slot, with all slots as they are now. */
async function claimSlot(userId: number, slot: string, now: number): Promise<User['mails'] | undefined> {
  try {
    await writeItem({
      Update: {
        Key: userKey(userId),
        UpdateExpression: 'SET mails.#slot = :now',
        ConditionExpression:
          'attribute_exists(pk) AND (attribute_not_exists(mails.#slot) OR mails.#slot <= :old)',
        ExpressionAttributeNames: { '#slot': slot },
        ExpressionAttributeValues: { ':now': now, ':old': now - hourMilliseconds },
      },
    })
    return undefined
  } catch (error) {
    const stored = error instanceof ConditionFailed ? error.failures[0]?.stored : undefined
    if (stored === undefined) throw error
    return parseUser(stored).mails
  }
}

function refusal(mails: User['mails'], now: number): MailClaim {
  const next = Math.min(...slots.map((slot) => mails[slot] ?? now)) + hourMilliseconds
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil((next - now) / 1000)) }
}
