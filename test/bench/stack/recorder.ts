import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as startRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { openDatabase } from '../../../infra/local/dynamodb/own-database.ts'
import type { WireItem } from '../../support/item-bytes.ts'
import {
  type AwsCall,
  billQuery,
  billReads,
  billWrites,
  isWrite,
  type ItemKey,
  readKeys,
  writtenKeys,
} from './aws-call.ts'

/** Every answer comes this long after its call, in milliseconds, so that calls sent together overlap. */
const latency = 5

/** An answer that AWS gave, for a server that repeats it. */
export interface RecordedAnswer {
  /** When the call came, in milliseconds of `performance.now()`. */
  startedAt: number
  /** When it was answered, epoch milliseconds. */
  at: number
  target: string
  request: string
  status: number
  contentType: string
  body: Buffer
}

/** A proxy in front of the local AWS endpoint, which records and bills the calls that pass. */
export type Recorder = Awaited<ReturnType<typeof startRecorder>>

/** Starts a recorder in front of an AWS endpoint whose table is in this DynamoDB Local. */
export async function startRecorder(options: { awsUrl: string; dynamodbEndpoint: string; table: string }) {
  const calls: AwsCall[] = []
  const answers: RecordedAnswer[] = []
  const agent = new Agent({ keepAlive: true })
  const database = openDatabase(options.dynamodbEndpoint)
  const server = createServer((request, response) => void record(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')

  async function record(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now()
    const request = { target: targetOf(message), body: await buffer(message) }
    const { answer, bill } = await callAndBill(database, options.table, request, () =>
      pass(message, request.body, options.awsUrl, agent),
    )
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + latency - performance.now())))
    response.writeHead(answer.status, answer.headers).end(answer.body)
    calls.push({ ...describe(request.target), ...bill, startedAt, endedAt: performance.now() })
    answers.push({
      startedAt,
      at: Date.now(),
      target: request.target,
      request: request.body.toString(),
      status: answer.status,
      contentType: answer.headers['content-type'] ?? '',
      body: answer.body,
    })
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns what has been recorded since the last time, in the order of the calls. */
    take: () => ({ calls: calls.splice(0).sort(byStart), answers: answers.splice(0).sort(byStart) }),
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      agent.destroy()
      database.destroy()
    },
  }
}

const byStart = (a: { startedAt: number }, b: { startedAt: number }): number => a.startedAt - b.startedAt

const targetOf = ({ headers, method, url }: IncomingMessage): string =>
  String(headers['x-amz-target'] ?? `${method ?? ''} ${url?.split('?', 1)[0] ?? ''}`)

const services: [RegExp, AwsCall['service']][] = [
  [/^DynamoDB/, 'dynamodb'],
  [/^TrentService/, 'kms'],
  [/^AmazonSQS/, 'sqs'],
  [/^AWSEvents/, 'events'],
  [/outbound-emails/, 'ses'],
]

const describe = (target: string) => ({
  service: services.find(([pattern]) => pattern.test(target))?.[1] ?? 'other',
  operation: target.split('.').at(-1) ?? '',
})

interface Passed {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Calls AWS, and bills the call by the items that it read, or wrote, as they were before and after. */
async function callAndBill(
  database: DynamoDBClient,
  table: string,
  { target, body }: { target: string; body: Buffer },
  call: () => Promise<Passed>,
) {
  const bill = { readUnits: 0, writeUnits: 0, keptBytes: 0 }
  if (!target.startsWith('DynamoDB')) return { answer: await call(), bill }
  const { operation } = describe(target)
  const input = JSON.parse(body.toString()) as object
  const read = (keys: ItemKey[]) => readItems(database, table, keys)
  if (isWrite(operation)) {
    const keys = writtenKeys(operation, input)
    const before = await read(keys)
    const answer = await call()
    const after = await read(keys)
    const items = keys.map((_key, i) => ({ before: before[i], after: after[i] }))
    return { answer, bill: { ...bill, ...billWrites(operation, items) } }
  }
  const answer = await call()
  if (operation === 'Query' || operation === 'Scan')
    return { answer, bill: { ...bill, readUnits: billQuery(input, JSON.parse(answer.body.toString())) } }
  const keys = readKeys(input)
  const items = await read(keys.map(({ key }) => key))
  return {
    answer,
    bill: { ...bill, readUnits: billReads(keys.map(({ kind }, i) => ({ item: items[i], kind }))) },
  }
}

const maxBatchKeys = 100

async function readItems(
  database: DynamoDBClient,
  table: string,
  keys: readonly ItemKey[],
): Promise<(WireItem | undefined)[]> {
  const found = new Map<string, WireItem>()
  const nameOf = ({ pk, sk }: Partial<ItemKey>) => JSON.stringify([pk, sk])
  const distinct = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
  for (let i = 0; i < distinct.length; i += maxBatchKeys) {
    const Keys = distinct.slice(i, i + maxBatchKeys).map(({ pk, sk }) => ({ pk, sk }))
    const { Responses = {} } = await database.send(
      new BatchGetItemCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
    )
    for (const item of Responses[table] ?? []) found.set(nameOf(item), item)
  }
  return keys.map((key) => found.get(nameOf(key)))
}

async function pass(message: IncomingMessage, body: Buffer, awsUrl: string, agent: Agent): Promise<Passed> {
  const target = new URL(awsUrl)
  const passed = startRequest(new URL(message.url ?? '/', target), {
    agent,
    method: message.method ?? 'POST',
    headers: { ...message.headers, host: target.host, connection: 'keep-alive' },
  })
  const answered = once(passed, 'response') as Promise<[IncomingMessage]>
  passed.end(body)
  const [answer] = await answered
  const kept = ['content-type', 'x-amzn-errortype', 'x-amz-crc32', 'x-amzn-query-error', 'x-amzn-requestid']
  const headers = kept.flatMap((name) => {
    const value = answer.headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return {
    status: answer.statusCode ?? 502,
    headers: Object.fromEntries(headers),
    body: await buffer(answer),
  }
}
