import * as v from 'valibot'
import { profileKey, toProfile } from '../community/profile.ts'
import { readItems } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import type { Change } from '../db/write.ts'
import { recordKey } from '../events/event-record.ts'
import { TornBefore } from '../ledger/undo-wallets.ts'
import { userKey } from '../users/user.ts'
import { signInKey } from '../sign-in/record.ts'

const detailType = 'user.registered'

/** The items that every registered user has, first the record of the event. */
const keysOf = (userId: number): Key[] => [
  recordKey({ detailType, businessKey: String(userId) }),
  userKey(userId),
  signInKey(userId),
  profileKey(userId),
]

/** The user whose registration wrote an item, if it was a registration; undefined for any other item. */
export function registeredUser(item: Item): number | undefined {
  const [partition, type, businessKey] = String(item['pk']).split('#')
  if (partition === 'EVT') return type === detailType ? Number(businessKey) : undefined
  return item['created_at'] === undefined ? undefined : v.parse(v.optional(Integer), item['user_id'])
}

/**
 * The changes that remove registrations of which only a part is there, and those of users below them in their
 * tree, so that their events register them again. `candidates` are the users whose registrations were written
 * at an instant (epoch milliseconds) or later, and `profiles` those of all members. Throws TornBefore if a
 * registration before that would be removed.
 */
export async function undoRegistrations(
  candidates: ReadonlySet<number>,
  profiles: readonly Item[],
  since: number,
): Promise<{ removed: ReadonlySet<number>; changes: Change[] }> {
  const members = new Map(profiles.map((item) => [Number(item['user_id']), toProfile(item)]))
  const children = Map.groupBy(members.values(), ({ upline }) => upline[0])
  const torn: Registration[] = []
  for (const registration of await readRegistrations([...candidates]))
    if (registration.items.includes(undefined)) torn.push(registration)
  // An earlier mend that was interrupted may have removed a referrer only.
  const orphans = [...children].flatMap(([referrerId, below]) =>
    referrerId === undefined || members.has(referrerId) ? [] : below,
  )
  const removed = new Set([...torn, ...orphans].map(({ userId }) => userId))
  // A loop over what it adds: all who were registered below.
  for (const userId of removed) for (const child of children.get(userId) ?? []) removed.add(child.userId)
  const registrations = await readRegistrations([...removed])
  return {
    removed,
    changes: registrations.flatMap(({ userId, items }) =>
      items.flatMap((before) => {
        if (before === undefined) return []
        if (writtenAt(before) < since)
          throw new TornBefore(`the registration of user ${userId} is not whole, and older`)
        return [{ before, after: undefined }]
      }),
    ),
  }
}

interface Registration {
  userId: number
  items: (Item | undefined)[]
}

async function readRegistrations(userIds: readonly number[]): Promise<Registration[]> {
  const perUser = keysOf(0).length
  const items = await readItems(userIds.flatMap(keysOf), { consistent: true })
  return userIds.map((userId, i) => ({ userId, items: items.slice(i * perUser, (i + 1) * perUser) }))
}

const writtenAt = (item: Item): number =>
  v.parse(v.optional(Integer), item['applied_at'] ?? item['created_at']) ?? 0
