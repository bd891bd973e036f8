import { retry } from '../retry.ts'
import { MailSlotTaken, takeMailSlot, type User } from '../users/user.ts'

const hourMilliseconds = 3_600_000

/** Each mail takes one of five slots for an hour, so that no hour, wherever it begins, has more than five. */
const slots = ['s0', 's1', 's2', 's3', 's4']

/** Whether a mail may be sent, and if not, how long until the next may. */
export type MailClaim = { allowed: true } | { allowed: false; retryAfterSeconds: number }

/** Takes one of the user's mails of this hour, atomically; `user` is the user as just read. */
export async function claimMail(user: User, now: number): Promise<MailClaim> {
  let { mails } = user
  return retry(
    async () => {
      const free = slots.find((slot) => (mails[slot] ?? 0) <= now - hourMilliseconds)
      if (free === undefined) return { allowed: false, retryAfterSeconds: secondsUntilFree(mails, now) }
      await takeMailSlot(user.userId, free, { now, freeBefore: now - hourMilliseconds })
      return { allowed: true }
    },
    (error) => {
      if (error instanceof MailSlotTaken) mails = error.mails
      return error instanceof MailSlotTaken
    },
  )
}

function secondsUntilFree(mails: User['mails'], now: number): number {
  const next = Math.min(...slots.map((slot) => mails[slot] ?? now)) + hourMilliseconds
  return Math.max(1, Math.ceil((next - now) / 1000))
}
