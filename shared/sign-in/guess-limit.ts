import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { Integer, type Item, type Key, ttlAfter } from '../db/table.ts'
import { ConditionFailed, type Write, writeItem } from '../db/write.ts'
import {
  countTries,
  expiredAttributes,
  removeAttributes,
  secondsUntilBelow,
  tryAttribute,
} from './try-counts.ts'

const sources = itemType({
  pk: 'GUESS#{network}',
  sk: 'SOURCE',
  holds: 'wrong passwords per minute from a source network, over all accounts and for each account',
  found: 'by source network',
})

/** A source network that tries passwords of one account. All its counters are in one item. */
export interface Source {
  key: Key
  /** Name of its counter for the account. */
  account: string
}

/** Counter of a source over all accounts. */
const all = 'all'

/** Maximum number of wrong passwords in an hour from one source: for one account, and over all accounts. */
const maxWrong = { account: 10, all: 100 }

/** The source network that tries passwords for a normalized email address, known or not. */
export const guessSource = (network: string, normalizedEmail: string): Source => ({
  key: sources.key({ network }),
  // 72 bits: that two addresses share a counter is unlikely, and would only make the limit stricter.
  account: createHash('sha256').update(normalizedEmail).digest().subarray(0, 9).toString('base64url'),
})

/** Whether a source has gone over a limit; `item` includes the try in question. */
export const isOverLimit = ({ account }: Source, item: Item, now: number): boolean =>
  countTries(item, account, now) > maxWrong.account || countTries(item, all, now) > maxWrong.all

/** Seconds until a source may try again; 0 if it may now. */
export const secondsUntilAllowed = ({ account }: Source, item: Item | undefined, now: number): number =>
  Math.max(
    secondsUntilBelow(item, account, { limit: maxWrong.account, now }),
    secondsUntilBelow(item, all, { limit: maxWrong.all, now }),
  )

/**
 * Counts a try of a source before its password is compared, so that simultaneous tries cannot pass the limit
 * together. Resolves with the item; `known` is the item as read before, which tells what has expired.
 */
export async function reserveSourceTry(
  { key, account }: Source,
  known: Item | undefined,
  now: number,
): Promise<Item> {
  const removal = removeAttributes(expiredAttributes(known, now))
  const reserve = {
    Update: {
      Key: key,
      UpdateExpression: `ADD #all :one, #account :one SET #ttl = :ttl ${removal.clause}`,
      ExpressionAttributeNames: {
        ...removal.names,
        '#all': tryAttribute(all, now),
        '#account': tryAttribute(account, now),
        '#ttl': 'ttl',
      },
      ExpressionAttributeValues: { ':one': 1, ':ttl': ttlAfter(now) },
    },
  }
  return (await writeItem(reserve, { returnNew: true })) ?? {}
}

/**
 * Takes a reserved try back, and resolves with the item. A count of the account that falls to zero is
 * removed, so that the item of a busy office, where everybody signs in, stays small.
 */
export async function giveBackSourceTry(source: Source, reserved: Item, reservedAt: number): Promise<Item> {
  const isLast = v.parse(Integer, reserved[tryAttribute(source.account, reservedAt)]) === 1
  try {
    return await takeBack(source, reservedAt, { removeAccount: isLast })
  } catch (error) {
    if (!(isLast && error instanceof ConditionFailed)) throw error
    // Another try was counted meanwhile, so the count must stay.
    return takeBack(source, reservedAt, { removeAccount: false })
  }
}

async function takeBack(
  { key, account }: Source,
  reservedAt: number,
  { removeAccount }: { removeAccount: boolean },
): Promise<Item> {
  const counter = tryAttribute(account, reservedAt)
  const giveBack: Write = {
    Update: {
      Key: key,
      UpdateExpression: removeAccount
        ? 'ADD #all :minusOne REMOVE #account'
        : 'ADD #all :minusOne, #account :minusOne',
      ...(removeAccount && { ConditionExpression: '#account = :one' }),
      ExpressionAttributeNames: {
        '#all': tryAttribute(all, reservedAt),
        '#account': counter,
      },
      ExpressionAttributeValues: { ':minusOne': -1, ...(removeAccount && { ':one': 1 }) },
    },
    isDone: (stored) => removeAccount && stored?.[counter] === undefined,
  }
  return (await writeItem(giveBack, { returnNew: true })) ?? {}
}
