// Measures how fast one root's tree grows: rounds of calls, write units of the busiest partition, processor
// time:   node test/bench/tree-growth.ts [MEMBERS]
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { Item } from '../../shared/db/table.ts'
import type { RoundCost } from './support/measure-in-rounds.ts'
import { startBenchTable } from './support/start-bench-table.ts'

const callMilliseconds = 5
/** Write units that a partition takes in a second (Amazon DynamoDB: partitions and data distribution). */
const partitionUnits = 1_000
const size = Number(process.argv[2] ?? 20_000)
const depth = 40

const table = await startBenchTable()

// Modules of shared/ are imported only now, because they read their environment when they load.
const { putProfile } = await import('../../shared/community/profile.ts')
const { placeBelow } = await import('../../shared/community/join.ts')
const { growTree } = await import('../../shared/community/growth/run.ts')
const { putJournalEntry } = await import('../../shared/community/growth/journal.ts')
const { db } = await import('../../shared/db/table.ts')
const { maxTransactionWrites, transact } = await import('../../shared/db/write.ts')
const { forEachConcurrently } = await import('../../shared/for-each-concurrently.ts')
const { Big } = await import('../../shared/money.ts')
const { firstJoined, generateTree, joinedEvery, treeItems } = await import('./support/generate-tree.ts')
const { inventPerson } = await import('./support/invent-person.ts')
const { measureInRounds } = await import('./support/measure-in-rounds.ts')
type Place = Parameters<typeof placeBelow>[0]

const rootId = 1

function* batches<Element>(elements: Iterable<Element>, length: number): Generator<Element[]> {
  const batch: Element[] = []
  for (const element of elements) {
    batch.push(element)
    if (batch.length === length) yield batch.splice(0)
  }
  if (batch.length > 0) yield batch
}

const load = (items: Iterable<Item>): Promise<void> =>
  forEachConcurrently(batches(items, 25), 4, (batch) =>
    db.send(
      new BatchWriteCommand({
        RequestItems: { [table.name]: batch.map((Item) => ({ PutRequest: { Item } })) },
      }),
    ),
  )

/** Adds newcomers below random members, as their events do. */
async function addNewcomers(members: Place[], count: number): Promise<void> {
  const writes = Array.from({ length: count }, () => {
    const referrer = members[Math.floor(Math.random() * members.length)] as Place
    const userId = members.length + 1
    const place = placeBelow(referrer)
    members.push({ userId, ...place })
    const joinedAt = firstJoined + userId * joinedEvery
    return [
      putProfile({ userId, ...inventPerson(userId), joinedAt, ...place }),
      putJournalEntry(rootId, userId, { joined: true }, joinedAt),
    ]
  })
  for (const batch of batches(writes.flat(), maxTransactionWrites)) await transact(batch)
}

/** Adds purchases of random members, as their events do. */
async function addPurchases(members: Place[], count: number): Promise<void> {
  const writes = Array.from({ length: count }, () => {
    const userId = 2 + Math.floor(Math.random() * (members.length - 1))
    return putJournalEntry(rootId, userId, { amount: new Big('9.99') }, Date.now())
  })
  for (const batch of batches(writes, maxTransactionWrites)) await transact(batch)
}

const propagate = () => growTree(rootId, Date.now() + 3_600_000)

function describe(what: string, count: number, events: RoundCost, growth: RoundCost) {
  const units = new Map(growth.units)
  for (const [partition, used] of events.units) units.set(partition, (units.get(partition) ?? 0) + used)
  const [[partition, busiest] = ['', 0]] = [...units].sort(([, one], [, other]) => other - one)
  const milliseconds = (growth.rounds * callMilliseconds) / count
  const round = (value: number) => Number(value.toPrecision(3))
  return {
    tree: `${size.toLocaleString('en-US')} members, ${what}`,
    'ms each': round(milliseconds),
    'a second': Math.floor(1_000 / milliseconds),
    'busiest partition': partition,
    'its units each': round(busiest / count),
    'a second by it': Math.floor((partitionUnits * count) / busiest),
    'write units each': round([...growth.units.values()].reduce((sum, used) => sum + used, 0) / count),
    'CPU ms each': round(growth.cpuMilliseconds / count),
    'hours for 1,000,000': round((milliseconds * 1_000_000) / 3_600_000),
  }
}

/** Newcomers and purchases that are measured: several batches, with the maintenance that comes due. */
const newcomers = Math.min(4_000, size / 2)
const purchases = 4_000

try {
  const generated = generateTree(size, depth)
  await load(treeItems(generated))
  const members: Place[] = generated.map(({ userId, rootId, depth, upline }) => ({
    userId,
    rootId,
    depth,
    upline,
  }))
  const joined = await measureInRounds(() => addNewcomers(members, newcomers))
  const grown = await measureInRounds(propagate)
  const bought = await measureInRounds(() => addPurchases(members, purchases))
  const counted = await measureInRounds(propagate)
  const rows = [
    describe('a newcomer', newcomers, joined, grown),
    describe('a purchase', purchases, bought, counted),
  ]
  console.table(rows)
  process.send?.(rows)
} finally {
  await table.close()
}
