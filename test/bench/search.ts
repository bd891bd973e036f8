// Measures pages and keyword searches in a list of a million members: rounds, read units, processor time; and
// what a segment of its search index costs. A process of its own stands for DynamoDB and answers each call
// after five milliseconds, so that the SDK decodes real answers:
//   node test/bench/search.ts [MEMBERS]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Item, Key } from '../../shared/db/table.ts'
import { billedReadUnits } from '../support/billed-units.ts'
import { itemBytes } from '../support/item-bytes.ts'

const callMilliseconds = 5
const table = 'bench'
const [size = '1000000', isServer] = process.argv.slice(2)
Object.assign(process.env, {
  TABLE_NAME: table,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
})

if (isServer === undefined) {
  await measureSegment()
  await measureSearches()
} else await serveTable()

/** Answers BatchGetItem with the items of a large list, and every write with nothing. */
async function serveTable() {
  const { largeList } = await import('./support/large-list.ts')
  const find = largeList(Number(size))
  const answers = new Map<string, { text: string; bytes: number }>()
  const answerFor = (key: Key) => {
    const found = find(key)
    if (found === undefined) return { text: '', bytes: 0 }
    const item = marshall(found)
    return { text: JSON.stringify(item, encodeBytes), bytes: itemBytes(item) }
  }
  const server = createServer((request, response) => {
    void (async () => {
      const { RequestItems } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
        RequestItems?: Record<string, { Keys: Item[]; ConsistentRead?: boolean }>
      }
      const { Keys: keys = [], ConsistentRead } = RequestItems?.[table] ?? {}
      const items = keys.map((marshalled) => {
        const text = JSON.stringify(marshalled)
        const { pk, sk } = marshalled as Record<keyof Key, { S: string }>
        const answer = answers.get(text) ?? answerFor({ pk: pk.S, sk: sk.S })
        answers.set(text, answer)
        return answer
      })
      const kind = ConsistentRead === true ? 'consistent' : 'eventual'
      const CapacityUnits = items.reduce((sum, { bytes }) => sum + billedReadUnits(bytes, kind), 0)
      const found = items.map(({ text }) => text).filter((text) => text !== '')
      const consumed = JSON.stringify([{ TableName: table, CapacityUnits }])
      const body = `{"Responses":{"${table}":[${found.join(',')}]},"ConsumedCapacity":${consumed}}`
      setTimeout(
        () => response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(body),
        callMilliseconds,
      )
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  process.send?.((server.address() as AddressInfo).port)
}

/** Bytes are base64 in DynamoDB's JSON. */
function encodeBytes(this: Item, name: string, value: unknown): unknown {
  const original = this[name]
  return original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value
}

/** The bytes and write units of a segment as large as one may be, and how long it takes to make its items. */
async function measureSegment() {
  const { maxSegment, prepareSegment } = await import('../../shared/community/search/index/segment.ts')
  const { toSearchText } = await import('../../shared/community/search/keyword.ts')
  const { inventPerson } = await import('./support/invent-person.ts')
  const members = Array.from({ length: maxSegment }, (_, i) => ({
    userId: i,
    joinedAt: i * 30_000,
    text: toSearchText(inventPerson(i)),
  }))
  const before = process.cpuUsage()
  const { items } = prepareSegment({ kind: 'COMMUNITY', ownerId: 1 }, '0', members)
  const sizes = Array.from(items(), (item) => itemBytes(marshall(item)))
  const { user, system } = process.cpuUsage(before)
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
  console.table([
    {
      members: members.length.toLocaleString('en-US'),
      items: sizes.length,
      'largest item, bytes': Math.max(...sizes),
      'bytes a member': Math.round(sum(sizes) / members.length),
      'write units a member': sum(sizes.map((size) => Math.ceil(size / 1_024))) / members.length,
      'CPU ms': Math.round((user + system) / 1_000),
    },
  ])
}

/** Pages and searches in a list of this many members, by name, each with the number of its page. */
function queries(members: number): [string, { keyword?: string }, number][] {
  return [
    ['first page', {}, 1],
    ['middle page', {}, Math.ceil(members / 40)],
    ['last page', {}, Math.ceil(members / 20)],
    ['keyword, a first name', { keyword: 'yuki' }, 1],
    ['keyword, half of them', { keyword: 'example.com' }, 1],
    ['keyword, nobody', { keyword: 'nobody' }, 1],
    ['middle page of a keyword', { keyword: 'example.com' }, Math.ceil(members / 80)],
  ]
}

async function measureSearches() {
  const server = fork(fileURLToPath(import.meta.url), [size, 'serve'])
  try {
    const [port] = (await once(server, 'message')) as [number]
    process.env['AWS_ENDPOINT_URL'] = `http://127.0.0.1:${port}`
    const { listMembers, prefetchMembers } = await import('../../shared/community/search/find.ts')
    const { Failure } = await import('../../shared/errors.ts')
    const { listOwnerId } = await import('./support/large-list.ts')
    const { measure } = await import('./support/measure.ts')
    const rows: object[] = []
    for (const [name, filter, current] of queries(Number(size))) {
      const query = { type: 'COMMUNITY' as const, ...filter }
      const run = async () =>
        listMembers(await prefetchMembers(query, listOwnerId), query, { current, size: 20 })
      const members = `${Number(size).toLocaleString('en-US')}, ${name}`
      try {
        await run()
        const { result, cost } = await measure(run)
        rows.push({
          members,
          found: result.total,
          rounds: cost.rounds,
          'read units': cost.readUnits,
          ms: cost.milliseconds,
          'CPU ms': cost.cpuMilliseconds,
        })
      } catch (error) {
        // A search that takes too long is refused, which is a result, too.
        if (!(error instanceof Failure) || error.failure !== 'unavailable') throw error
        rows.push({ members: `${members}: refused, as it took too long` })
      }
    }
    console.table(rows)
    process.send?.(rows)
  } finally {
    server.kill()
  }
}
