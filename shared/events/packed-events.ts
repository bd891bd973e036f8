import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { cacheRead } from '../cache-read.ts'
import { itemType } from '../db/item-type.ts'
import { queryFirst, readItem } from '../db/read.ts'
import { Integer, type Item } from '../db/table.ts'
import { putNew, putVersioned, type Write } from '../db/write.ts'
import { OptimisticLockError } from '../errors.ts'
import { retry } from '../retry.ts'

/** What is kept for all time of an event that took effect long ago: hexadecimal digits of two digests. */
export interface PackedEvent {
  /** The byte of the key's digest that tells the partition. */
  slot: string
  /** The next eight bytes, by which the events of a slot are ordered: see infra/DECISIONS.md. */
  fingerprint: string
  /** Four bytes of the digest of the event's content. */
  content: string
}

const [slotDigits, contentDigits] = [2, 8]
export const fingerprintDigits = 16
export const entryDigits = fingerprintDigits + contentDigits

/** The entry of an event by the partition key of its record and the digest of its content, base64url. */
export function toPacked(recordKey: string, digest: string): PackedEvent {
  const key = createHash('sha256').update(recordKey).digest('hex')
  return {
    slot: key.slice(0, slotDigits),
    fingerprint: key.slice(slotDigits, slotDigits + fingerprintDigits),
    content: Buffer.from(digest, 'base64url').toString('hex').slice(0, contentDigits),
  }
}

const ranges = itemType({
  pk: 'SEEN#{slot}',
  sk: '{from}',
  holds: 'some hundred events that took effect long ago: twelve bytes of the digests of key and content',
  found: 'by the digest of an event’s key: the last item of its slot that begins at or before it',
})

/** The packed events of a slot in a range of fingerprints, in order. Under 4 KB, so half a unit reads it. */
export interface EventRange {
  slot: string
  /** The first fingerprint that it may hold, and the first one after those; undefined in the last range. */
  from: string
  until: string | undefined
  /** Fingerprint and content of each event, one after the other. */
  entries: string
  /** When the latest of its events took effect, epoch milliseconds. */
  appliedAt: number
  version: number
}

const StoredRange = v.object({
  sk: v.string(),
  until: v.optional(v.string()),
  entries: v.instance(Uint8Array),
  applied_at: Integer,
  version: Integer,
})

/** The range of a slot before anything was packed; its `from` is before every fingerprint. */
const emptyRange = (slot: string): EventRange => ({
  slot,
  from: '0',
  until: undefined,
  entries: '',
  appliedAt: 0,
  version: 0,
})

function toRange(slot: string, item: Item): EventRange {
  const { sk: from, entries, applied_at: appliedAt, ...rest } = v.parse(StoredRange, item)
  return { slot, from, until: undefined, entries: Buffer.from(entries).toString('hex'), appliedAt, ...rest }
}

/** The write of a range; its condition fails unless the stored range is the one that was read. */
export const putRange = ({ slot, from, until, entries, appliedAt, version }: EventRange): Write =>
  putVersioned(
    {
      ...ranges.key({ slot, from }),
      until,
      entries: Buffer.from(entries, 'hex'),
      applied_at: appliedAt,
      version: version + 1,
    },
    version,
  )

/** A range was split while it was read: of its two halves, only the other one was found. */
class SplitMeanwhile extends OptimisticLockError {
  override readonly name = 'SplitMeanwhile'
}

/** Reads the range that a fingerprint belongs to. */
export function readRange(
  { slot, fingerprint }: Pick<PackedEvent, 'slot' | 'fingerprint'>,
  { consistent = false } = {},
): Promise<EventRange> {
  const read = async () => {
    const [item] = await queryFirst(
      {
        KeyConditionExpression: 'pk = :slot AND sk <= :fingerprint',
        ExpressionAttributeValues: { ':slot': ranges.partition({ slot }), ':fingerprint': fingerprint },
        ScanIndexForward: false,
        ConsistentRead: consistent,
      },
      1,
    )
    const range = item === undefined ? emptyRange(slot) : toRange(slot, item)
    if (range.until !== undefined && fingerprint >= range.until) throw new SplitMeanwhile('a range was split')
    return range
  }
  return retry(read, (error) => error instanceof SplitMeanwhile)
}

const packing = itemType({
  pk: 'SEEN#packing',
  sk: 'PACKING',
  holds: 'when old events were packed last, to the end: without it, there is nothing to search',
  found: 'by its key; there is one',
})

/** The write that lets functions search packed events, before any is packed. It fails if they do already. */
export const putBeginning = (): Write => putNew(packing.key({}))

/** The write that records that all old events are packed now. */
export const putCompletion = (): Write => ({
  Put: { Item: { ...packing.key({}), completed_at: Date.now() } },
})

/** When old events were packed last, to the end, epoch milliseconds; undefined if never. */
export async function readCompletion(): Promise<number | undefined> {
  const item = await readItem(packing.key({}), { consistent: true })
  return v.parse(v.optional(Integer), item?.['completed_at'])
}

/** Kept for ten minutes: the record of an event stays for a day after it was packed. */
const hasBegun = cacheRead(
  async () => {
    const query = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': packing.partition({}) },
    }
    return (await queryFirst(query, 1)).length > 0
  },
  { maxAge: () => 600_000 },
)

/**
 * Finds the contents under which events with this key were packed: one, or none if there was no such event.
 * Eventually consistent, because the records of events stay for a day after they were packed.
 */
export async function findContents({ slot, fingerprint }: PackedEvent): Promise<string[]> {
  if (!(await hasBegun.get())) return []
  const { entries } = await readRange({ slot, fingerprint })
  const contents: string[] = []
  for (let at = entries.indexOf(fingerprint); at !== -1; at = entries.indexOf(fingerprint, at + 1))
    if (at % entryDigits === 0) contents.push(entries.slice(at + fingerprintDigits, at + entryDigits))
  return contents
}
