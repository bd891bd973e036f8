import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'

/**
 * A user's generation: how often all sessions of the user were ended. A token has the generation in which its
 * session began, and works in that one only, so one write ends all of them, however many there are. The
 * partition is apart from that of the tokens, so that no function that issues or deletes tokens can write it.
 */
const endings = itemType({
  pk: 'ENDED#{userId}',
  sk: 'ENDED',
  holds: 'how often all sessions of a user were ended; tokens of an earlier generation are refused',
  found: 'by user',
})

/** Key of the item with a user's generation. */
export const endedKey = (userId: number): Key => endings.key({ userId })

const EndedItem = v.object({ generation: Integer })

/** A user's generation; 0 without an item. */
export const toGeneration = (item: Item | undefined): number =>
  item === undefined ? 0 : v.parse(EndedItem, item).generation

/**
 * The write that ends all sessions of a user. The sign-in record counts along in the same transaction, which
 * also ends the login tickets, so that later sign-ins begin in the new generation.
 */
export const endAllSessions = (userId: number): Write => ({
  Update: {
    Key: endedKey(userId),
    UpdateExpression: 'ADD generation :one',
    ExpressionAttributeValues: { ':one': 1 },
  },
})

/** The condition that a user's sessions of a generation have not been ended. */
export const requireGeneration = (userId: number, generation: number, otherwise: () => Error): Write => ({
  ConditionCheck: {
    Key: endedKey(userId),
    ConditionExpression: 'attribute_not_exists(pk) OR generation <= :generation',
    ExpressionAttributeValues: { ':generation': generation },
  },
  otherwise,
})
