// Measures the processor time of a keyword search in a list of a million members. A process of its own stands
// for DynamoDB and answers each call after five milliseconds, so that the SDK decodes real answers:
//   node test/bench/search.ts [MEMBERS]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Item, Key } from '../../shared/db/table.ts'

const callMilliseconds = 5
const table = 'bench'
const [size = '1000000', isServer] = process.argv.slice(2)
Object.assign(process.env, {
  TABLE_NAME: table,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
})

if (isServer === undefined) await measureSearches()
else await serveTable()

/** Answers BatchGetItem with the items of a large list, and every write with nothing. */
async function serveTable() {
  const { largeList } = await import('./support/large-list.ts')
  const find = largeList(Number(size))
  const answers = new Map<string, string>()
  const answerFor = ({ pk, sk }: Key): string => {
    const item = find({ pk, sk })
    return item === undefined ? '' : JSON.stringify(marshall(item), encodeBytes)
  }
  const server = createServer((request, response) => {
    void (async () => {
      const { RequestItems } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
        RequestItems?: Record<string, { Keys: Item[] }>
      }
      const keys = RequestItems?.[table]?.Keys ?? []
      const items = keys.map((marshalled) => {
        const text = JSON.stringify(marshalled)
        const { pk, sk } = marshalled as Record<keyof Key, { S: string }>
        const answer = answers.get(text) ?? answerFor({ pk: pk.S, sk: sk.S })
        answers.set(text, answer)
        return answer
      })
      const body = `{"Responses":{"${table}":[${items.filter((item) => item !== '').join(',')}]}}`
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

async function measureSearches() {
  const server = fork(fileURLToPath(import.meta.url), [size, 'serve'])
  try {
    const [port] = (await once(server, 'message')) as [number]
    process.env['AWS_ENDPOINT_URL'] = `http://127.0.0.1:${port}`
    const { listMembers, prefetchMembers } = await import('../../shared/community/find-members.ts')
    const { measure } = await import('./support/measure.ts')
    for (const keyword of ['yuki', 'yuki', 'example.com', 'example.com', 'nobody', 'nobody']) {
      const query = { type: 'COMMUNITY' as const, keyword }
      const before = process.cpuUsage()
      const { result, cost } = await measure(async () =>
        listMembers(await prefetchMembers(query, 1), query, { current: 1, size: 20 }),
      )
      const { user, system } = process.cpuUsage(before)
      const cpu = Math.round((user + system) / 1_000)
      console.log(
        `${keyword.padEnd(12)} found ${result.total}: ${cpu} ms of a processor, ${cost.milliseconds} ms in ${cost.rounds} rounds`,
      )
    }
  } finally {
    server.kill()
  }
}
