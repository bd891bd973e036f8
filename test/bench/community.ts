// Measures the community at 100,000 members on DynamoDB Local, and computes its pages for 10,000,000:
//   node test/bench/community.ts [MEMBERS]
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Item } from '../../shared/db/table.ts'
import { startBenchTable } from './support/start-bench-table.ts'

const size = Number(process.argv[2] ?? 100_000)
const depth = 15

const table = await startBenchTable()
process.env['GROW_TREE_QUEUE_URL'] = 'http://queue.invalid/grow-tree.fifo'
// The benchmark propagates the tree itself, without a queue.
SQSClient.prototype.send = async () => ({})

// Modules of shared/ are imported only now, because they read their environment when they load.
const { db } = await import('../../shared/db/table.ts')
const { firstJoined, generateTree, joinedEvery, treeItems } = await import('./support/generate-tree.ts')
const { inventPerson } = await import('./support/invent-person.ts')
const { measure } = await import('./support/measure.ts')
const { pageUnits, searchUnits } = await import('./support/page-units.ts')
const { exportMembers, listMembers, prefetchMembers } = await import('../../shared/community/find-members.ts')
const { membersCsv } = await import('../../shared/community/members-csv.ts')
const { propagateToAncestors } = await import('../../shared/community/propagate-to-ancestors.ts')
const { readProfile } = await import('../../shared/community/member.ts')
const { buy, join } = await import('../support/community-events.ts')
const { stringifyExact } = await import('../../shared/stringify-exact.ts')
type Filter = Parameters<typeof listMembers>[1]

async function load(items: Iterable<Item>): Promise<number> {
  let loaded = 0
  const source = items[Symbol.iterator]()
  const writer = async () => {
    for (;;) {
      const batch: Item[] = []
      for (let next = source.next(); !next.done; next = source.next()) {
        batch.push(next.value)
        if (batch.length === 25) break
      }
      if (batch.length === 0) return
      loaded += batch.length
      await db.send(
        new BatchWriteCommand({
          RequestItems: { [table.name]: batch.map((Item) => ({ PutRequest: { Item } })) },
        }),
      )
    }
  }
  await Promise.all(Array.from({ length: 4 }, writer))
  return loaded
}

const report = (name: string, cost: object, more = '') =>
  console.log(`${name.padEnd(44)} ${JSON.stringify(cost)} ${more}`)
const day = (i: number) => new Date(firstJoined + i * joinedEvery).toISOString().slice(0, 10)

try {
  const members = generateTree(size, depth)
  const started = performance.now()
  const items = await load(treeItems(members))
  console.log(`loaded ${items} items in ${Math.round((performance.now() - started) / 1000)} s`)

  const page = async (name: string, filter: Partial<Filter>, current: number) => {
    const query: Filter = { type: 'COMMUNITY', ...filter }
    const run = async () => listMembers(await prefetchMembers(query, 1), query, { current, size: 20 })
    await run()
    const { result, cost } = await measure(run)
    report(name, cost, `total ${result.total}, ${result.records.length} records`)
  }
  const last = Math.ceil((size - 1) / 20)
  const middle = Math.floor(last / 2)
  const dates = { beginDate: day(size / 5), endDate: day((size * 4) / 5) }
  await page('first page', {}, 1)
  await page('middle page', {}, middle)
  await page('last page', {}, last)
  await page('dates, first page', dates, 1)
  await page('dates, middle page', dates, Math.floor(middle / 2))
  await page('keyword, a whole address', { keyword: inventPerson(77).email }, 1)
  await page('keyword, a first name', { keyword: 'yuki' }, 1)
  await page('keyword, common, page 100', { keyword: 'example.com' }, 100)
  await page('keyword and dates', { ...dates, keyword: 'example.com' }, 1)
  await page('direct referrals', { type: 'DIRECT' }, 1)

  const exported = await measure(async () => {
    const query: Filter = { type: 'COMMUNITY' }
    return exportMembers(await prefetchMembers(query, 1), query)
  })
  const json = Buffer.byteLength(JSON.stringify(stringifyExact(exported.result)))
  const csv = Buffer.byteLength(JSON.stringify(membersCsv(exported.result.records).body))
  report('export', exported.cost, `${exported.result.records.length} records, JSON ${json} B, CSV ${csv} B`)

  const deepest = members.find((member) => member.depth === depth - 1)?.userId ?? 1
  const registration = await measure(() =>
    join({
      userId: 10_000_001,
      nickname: 'New',
      email: 'new@example.com',
      referrerId: deepest,
      registeredAt: 1,
    }),
  )
  report('registration at depth 15, event', registration.cost)
  report(
    'registration at depth 15, tree',
    (await measure(() => propagateToAncestors(1, Date.now() + 30_000))).cost,
  )
  report('purchase at depth 15, event', (await measure(() => buy(10_000_001, '0.1'))).cost)
  report(
    'purchase at depth 15, tree',
    (await measure(() => propagateToAncestors(1, Date.now() + 30_000))).cost,
  )

  const buyers = Array.from({ length: 1000 }, () => 2 + Math.floor(Math.random() * (size - 1)))
  for (let i = 0; i < buyers.length; i += 20) {
    await Promise.all(buyers.slice(i, i + 20).map((userId) => buy(userId, '0.100000000000000001')))
  }
  report('1,000 purchases, tree', (await measure(() => propagateToAncestors(1, Date.now() + 300_000))).cost)
  const sum = (await readProfile(1))?.teamPerformance.toFixed()
  if (sum !== '100.100000000000001') throw new Error(`the root's sum is ${sum ?? 'missing'}`)
  console.log(`the root's sum is exact: ${sum}`)
  for (const many of [size, 1_000_000, 10_000_000])
    console.log(`computed for ${many}: ${JSON.stringify({ ...pageUnits(many), search: searchUnits(many) })}`)
} finally {
  await table.close()
}
