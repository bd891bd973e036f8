// Measures what is kept of the events of past years, and what it costs to pack them and to look for one:
//   node test/bench/event-keys.ts [EVENTS…]     by default 20000 1000000
import { marshall } from '@aws-sdk/util-dynamodb'
import { prices, storageDollarsPerGigabyteMonth } from '../infra/capacity/prices.ts'
import { itemBytes, overheadBytes } from '../support/item-bytes.ts'
import { round } from './report/table.ts'
import { startBenchTable } from './support/start-bench-table.ts'

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [20_000, 1_000_000]

/** Number of runs in which the events of a size are packed: twice a year for five years. */
const runs = 10
/** Number of events that are looked for. */
const searches = 200
/** Each reads an event's bill, which is about as large as its record. */
const scansOfTenYears = 20
/** The months of ten years that a record is past its first one. */
const monthsPastFirstYear = 9 * 12

const table = await startBenchTable()

// Modules of shared/ are imported only now, because they read their environment when they load.
const { scanItems } = await import('../../shared/db/read.ts')
const { eventRecord, putEventRecord } = await import('../../shared/events/event-record.ts')
const { findContents, toPacked } = await import('../../shared/events/packed-events.ts')
const { packEvents } = await import('../../shared/events/pack-events.ts')
const { measure } = await import('./support/measure.ts')
const { countWriteUnits } = await import('./support/write-units.ts')

const storedBytes = (item: object): number =>
  overheadBytes + itemBytes(marshall(item, { removeUndefinedValues: true }))

/** The record of a `wallet.adjusted` as it is stored. */
const recordOf = (number: number) => {
  const key = `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`
  const others = [{ Put: { Item: {} } }, { Put: { Item: {} } }]
  const record = eventRecord('wallet.adjusted', key, { number })
  return putEventRecord(record, 1_700_000_000_000 + number, others).Put?.Item ?? {}
}

/** Bytes of all packed events. */
async function packedBytes(): Promise<number> {
  let bytes = 0
  for await (const item of scanItems({}, 4)) bytes += storedBytes(item)
  return bytes
}

const dollarsPastFirstYear = (bytes: number): number =>
  (bytes / 1e9) * 1e6 * storageDollarsPerGigabyteMonth * monthsPastFirstYear

const rows: Record<string, unknown>[] = []
let done = 0
let writeUnits = 0
for (const size of sizes) {
  const first = done
  for (let run = 1; run <= runs; run += 1) {
    const until = first + Math.round(((size - first) * run) / runs)
    const records = Array.from({ length: until - done }, (_, i) => recordOf(done + i) as never)
    writeUnits += await countWriteUnits(() => packEvents(records))
    done = until
  }
  const recordBytes = storedBytes(recordOf(1))
  const bytes = (await packedBytes()) / size
  const readUnits: number[] = []
  // The first search of a process reads, too, whether events are packed at all.
  for (let number = -1; number < searches; number += 1) {
    const { pk, digest } = recordOf(Math.max(0, number))
    const { cost, result } = await measure(() => findContents(toPacked(String(pk), String(digest))))
    if (result.length !== 1) throw new Error('a packed event was not found')
    if (number >= 0) readUnits.push(cost.readUnits)
  }
  const [record, packed] = [recordBytes, bytes].map(dollarsPastFirstYear) as [number, number]
  const looked = Math.max(...readUnits)
  // Written once: the ranges, and what lets the record expire. Read: the scans, and a range for the event
  // itself, before it is applied.
  const work =
    (writeUnits / size + 1) * prices.write.perMillion +
    (scansOfTenYears * (recordBytes / 4_096 / 2) + looked) * prices.read.perMillion
  rows.push({
    'event keys': size.toLocaleString('en-US'),
    'record bytes': recordBytes,
    'packed bytes': round(bytes, 3),
    '$ of nine years, records': round(record, 3),
    '$ packed': round(packed, 3),
    '× records': round(packed / record, 3),
    '$ of work, once': round(work, 3),
    'read units to look for one': looked,
  })
  console.log(`${size} events packed`)
}
console.table(rows)
process.send?.(rows)
await table.close()
