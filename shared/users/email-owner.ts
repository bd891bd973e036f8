import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'

const emails = itemType({
  pk: 'EMAIL#{normalizedEmail}',
  sk: 'EMAIL',
  holds: 'the user that an email address is reserved for',
  found: 'by normalized address',
})

/** Longest address in a key, in bytes: DynamoDB takes 2,048, and some characters normalize to eighteen. */
const maxKeyBytes = 2_000

/** Key of the item that reserves a normalized email address for one user. A very long one is hashed. */
export const emailKey = (normalizedEmail: string): Key =>
  emails.key({
    normalizedEmail:
      Buffer.byteLength(normalizedEmail) <= maxKeyBytes
        ? normalizedEmail
        : createHash('sha256').update(normalizedEmail).digest('base64url'),
  })

const EmailItem = v.object({ user_id: Integer })

/** Reads which user an email address is reserved for from the item of emailKey; undefined without an item. */
export const emailOwner = (item: Item | undefined): number | undefined =>
  item === undefined ? undefined : v.parse(EmailItem, item).user_id

/** Reads which user an email address is reserved for; undefined if nobody has it. */
export const readEmailOwner = async (normalizedEmail: string): Promise<number | undefined> =>
  emailOwner(await readItem(emailKey(normalizedEmail), { consistent: true }))
