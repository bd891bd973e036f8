import { setTimeout as wait } from 'node:timers/promises'
import { writeItem } from '../../../shared/db/write.ts'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import {
  expireRecord,
  findOldRecords,
  type OldRecord,
  packEvents,
} from '../../../shared/events/pack-events.ts'
import { putCompletion } from '../../../shared/events/packed-events.ts'

/** What was packed. */
export interface PackReport {
  /** The instant before which the events took effect, ISO 8601. */
  before: string
  /** Number of records that were packed, without those of an earlier run that are not deleted yet. */
  packed: number
}

/**
 * How old the record of an event is when it is packed. Until then it tells a mend of the ledger what to take
 * back, in a table that was restored: point-in-time recovery reaches back 35 days.
 */
export const minAgeMilliseconds = 90 * 86_400_000

/** Number of records that are packed together: the more, the fewer units each. They take half a gigabyte. */
const maxRecords = 2_000_000

/** Time after which a backup has what was written: its skew is usually much less than a second. */
const defaultSettleMilliseconds = 10_000

/** Number of records that are marked for deletion at the same time. */
const concurrency = 32

/**
 * Packs the records of all events that took effect before an instant (epoch milliseconds), then lets them
 * expire. What is done already is not done again, so an interrupted run is continued by another one.
 */
export async function packRecords(
  before: number,
  onProgress: (done: number, text: string) => void = () => undefined,
  settleMilliseconds = defaultSettleMilliseconds,
): Promise<PackReport> {
  const records: OldRecord[] = []
  let [found, packed] = [0, 0]
  const pack = async () => {
    await packEvents(records)
    await wait(settleMilliseconds)
    await forEachConcurrently(records.splice(0), concurrency, async (record) => {
      if (await expireRecord(record)) packed += 1
      onProgress(packed, `${packed} events packed`)
    })
  }
  for await (const record of findOldRecords(before)) {
    records.push(record)
    onProgress((found += 1), `${found} old records found`)
    if (records.length === maxRecords) await pack()
  }
  if (records.length > 0) await pack()
  await writeItem(putCompletion())
  return { before: new Date(before).toISOString(), packed }
}

/** Formats the report as text. */
export const formatPacked = ({ before, packed }: PackReport): string =>
  `${packed} events from before ${before} were packed; DynamoDB deletes their records from tomorrow on`
