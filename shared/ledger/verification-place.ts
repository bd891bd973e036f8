import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { db, Integer, type Key, tableName } from '../db/table.ts'
import type { Place } from './register.ts'

const placeKey: Key = { pk: 'VERIFICATION', sk: 'PLACE' }
const PlaceItem = v.object({ shard: Integer, after: v.optional(v.string()) })

/** Where the last nightly check of the ledger stopped: at the beginning, if it reached the end. */
export async function readPlace(): Promise<Place> {
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: placeKey, ConsistentRead: true }),
  )
  return Item === undefined ? { shard: 0 } : v.parse(PlaceItem, Item)
}

/** Remembers where the nightly check of the ledger is to go on. */
export async function writePlace(place: Place): Promise<void> {
  await db.send(new PutCommand({ TableName: tableName(), Item: { ...placeKey, ...place } }))
}
