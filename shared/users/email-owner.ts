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

/** Key of the item that reserves a normalized email address for one user. */
export const emailKey = (normalizedEmail: string): Key => emails.key({ normalizedEmail })

const EmailItem = v.object({ user_id: Integer })

/** Reads which user an email address is reserved for from the item of emailKey; undefined without an item. */
export const emailOwner = (item: Item | undefined): number | undefined =>
  item === undefined ? undefined : v.parse(EmailItem, item).user_id

/** Reads which user an email address is reserved for; undefined if nobody has it. */
export const readEmailOwner = async (normalizedEmail: string): Promise<number | undefined> =>
  emailOwner(await readItem(emailKey(normalizedEmail), { consistent: true }))
