import * as v from 'valibot'
import type { Partition } from '../db/partitions.ts'
import { scanItems } from '../db/read.ts'
import { Integer, Key, ttlAfter } from '../db/table.ts'
import { ConditionFailed, transact, writeIf, writeItem } from '../db/write.ts'
import { forEachConcurrently } from '../for-each-concurrently.ts'
import { retry } from '../retry.ts'
import {
  entryDigits,
  type EventRange,
  fingerprintDigits,
  type PackedEvent,
  putBeginning,
  putRange,
  readRange,
  toPacked,
} from './packed-events.ts'

/** The record of an event that took effect. */
const OldRecord = v.object({
  ...Key.entries,
  digest: v.string(),
  /** When the event took effect, epoch milliseconds. */
  applied_at: Integer,
  /** Set when it was packed before. */
  ttl: v.optional(Integer),
})
export type OldRecord = v.InferOutput<typeof OldRecord>

/** Number of parallel segments of the scan of the table. */
const segments = 16

/**
 * Yields the records of the events that took effect before an instant (epoch milliseconds). Reads the whole
 * table: an index of the records would make every event two write units dearer. Eventually consistent: what
 * it does not find is found the next time.
 */
export async function* findOldRecords(before: number): AsyncGenerator<OldRecord> {
  const prefix: Partition = 'EVT#'
  const filter = {
    FilterExpression: 'begins_with(pk, :prefix) AND applied_at < :before AND attribute_exists(digest)',
    ExpressionAttributeValues: { ':prefix': prefix, ':before': before },
  }
  for await (const item of scanItems(filter, segments, { consistent: false })) yield v.parse(OldRecord, item)
}

/**
 * Lets DynamoDB delete the record of a packed event, a day from now at the earliest. Resolves with false if
 * that was done before, or a mend of the ledger has deleted it.
 */
export const expireRecord = async ({ pk, sk, ttl }: OldRecord): Promise<boolean> =>
  ttl === undefined &&
  writeIf({
    Update: {
      Key: { pk, sk },
      UpdateExpression: 'SET #ttl = :ttl',
      ConditionExpression: 'attribute_exists(digest)',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':ttl': ttlAfter(Date.now()) },
    },
  })

/** Number of entries of a range whose item is just under 4 KB. */
const maxEntries = 330

/** Number of entries that are added to a range in one transaction of at most 100 writes. */
const maxAdded = 90 * maxEntries

/** Number of slots that are written at the same time. */
const concurrency = 16

/** Packs the events of these records, each once, however often it is done. The records stay. */
export async function packEvents(records: readonly OldRecord[]): Promise<void> {
  await writeIf(putBeginning())
  const events = records.map(({ pk, digest, applied_at: appliedAt }) => ({
    ...toPacked(pk, digest),
    appliedAt,
  }))
  const slots = [...Map.groupBy(events, ({ slot }) => slot).values()]
  await forEachConcurrently(slots, concurrency, async (slot) => {
    const sorted = slot.sort((one, other) => (one.fingerprint < other.fingerprint ? -1 : 1))
    for (let done = 0; done < sorted.length;) {
      const next = sorted.slice(done, done + maxAdded)
      done += await retry(
        () => addToRange(next),
        (error) => error instanceof ConditionFailed,
      )
    }
  })
}

type AppliedEvent = PackedEvent & { appliedAt: number }

/**
 * Adds the first of these events, which are of one slot and in order, to the range that they belong to, and
 * resolves with their number. Throws ConditionFailed when another process has changed the range.
 */
async function addToRange(events: readonly AppliedEvent[]): Promise<number> {
  const [first] = events
  if (first === undefined) return 0
  const range = await readRange(first, { consistent: true })
  const { until } = range
  const added = until === undefined ? events : events.filter(({ fingerprint }) => fingerprint < until)
  const known = Array.from({ length: range.entries.length / entryDigits }, (_, i) =>
    range.entries.slice(i * entryDigits, (i + 1) * entryDigits),
  )
  const entries = [
    ...new Set([...known, ...added.map(({ fingerprint, content }) => fingerprint + content)]),
  ].sort()
  if (entries.length > known.length) {
    const appliedAt = Math.max(range.appliedAt, ...added.map((event) => event.appliedAt))
    const [write, ...others] = split({ ...range, appliedAt }, entries).map(putRange)
    if (write !== undefined) await (others.length === 0 ? writeItem(write) : transact([write, ...others]))
  }
  return added.length
}

/** The range with these entries instead of its own, as several ranges if they are too many for one. */
function split(range: EventRange, entries: readonly string[]): EventRange[] {
  const count = Math.ceil(entries.length / maxEntries)
  const size = Math.ceil(entries.length / count)
  const later = entries
    .filter((_, i) => i > 0 && i % size === 0)
    .map((entry) => entry.slice(0, fingerprintDigits))
  return [range.from, ...later].map((from, i) => {
    const until = later[i] ?? range.until
    const own = entries.filter((entry) => entry >= from && (until === undefined || entry < until))
    return { ...range, from, until, entries: own.join(''), version: i === 0 ? range.version : 0 }
  })
}
