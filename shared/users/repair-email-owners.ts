import { readItems } from '../db/read.ts'
import type { Item, Key } from '../db/table.ts'
import type { Change } from '../db/write.ts'
import { emailKey, emailOwner } from './email-owner.ts'
import { normalizeEmail } from './identity.ts'
import { claimEmail, toUser, type User, userKey } from './user.ts'

/**
 * The changes after which every user's email address is reserved for that user, and no other address, given
 * all items that reserve one, the address that each user seems to have, and the users who are to be removed.
 * Where the two differ, the users' own items are read and decide. Of two users who have one address, as in a
 * table that was restored while the one took it over from the other, the one whose address was set earlier
 * keeps it: an event changes it again.
 */
export async function repairEmailOwners(
  reserved: readonly Item[],
  emailOf: ReadonlyMap<number, string>,
  removed: ReadonlySet<number>,
): Promise<Change[]> {
  const stored = new Map(reserved.map((item) => [String(item['pk']), item]))
  const addressOf = new Map(
    [...emailOf].map(([userId, email]) => [userId, emailKey(normalizeEmail(email)).pk]),
  )
  const owners = [...stored].map(([address, item]) => ({ address, userId: emailOwner(item) ?? 0 }))
  const doubtful = new Set<string>()
  const asked = new Set<number>()
  const doubt = (address: string, ...userIds: number[]) => {
    doubtful.add(address)
    for (const userId of userIds) asked.add(userId)
  }
  for (const { address, userId } of owners) if (addressOf.get(userId) !== address) doubt(address, userId)
  for (const [userId, address] of addressOf) {
    const owner = emailOwner(stored.get(address))
    if (owner !== userId) doubt(address, userId, ...(owner === undefined ? [] : [owner]))
  }
  const users = await readUsers([...asked].filter((userId) => !removed.has(userId)))
  const claims = Map.groupBy(users, ({ email }) => emailKey(normalizeEmail(email)).pk)
  return [...doubtful].flatMap((address) => {
    const [owner] = (claims.get(address) ?? []).sort(byStamp)
    const before = stored.get(address)
    if (owner?.userId === emailOwner(before)) return []
    return [{ before, after: owner && claimEmail(normalizeEmail(owner.email), owner.userId).Put?.Item }]
  })
}

async function readUsers(userIds: readonly number[]): Promise<User[]> {
  const keys: Key[] = userIds.map(userKey)
  const items = await readItems(keys, { consistent: true })
  return items.flatMap((item) => (item === undefined ? [] : [toUser(item)]))
}

const byStamp = (one: User, other: User): number =>
  (one.stamps.email ?? '') < (other.stamps.email ?? '') ? -1 : 1
