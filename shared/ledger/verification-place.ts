import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import type { Place } from './register.ts'
import { readItem } from '../db/read.ts'
import { writeItem } from '../db/write.ts'

const placeKey: Key = { pk: 'VERIFICATION', sk: 'PLACE' }
const PlaceItem = v.object({ shard: Integer, after: v.optional(v.string()) })

/** Where the last nightly check of the ledger stopped: at the beginning, if it reached the end. */
export async function readPlace(): Promise<Place> {
  const item = await readItem(placeKey, { consistent: true })
  return item === undefined ? { shard: 0 } : v.parse(PlaceItem, item)
}

/** Remembers where the nightly check of the ledger is to go on. */
export async function writePlace(place: Place): Promise<void> {
  await writeItem({ Put: { Item: { ...placeKey, ...place } } })
}
