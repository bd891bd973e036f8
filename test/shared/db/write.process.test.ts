import * as v from 'valibot'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { type AwsEndpoint, startAwsEndpoint } from '../../../infra/local/aws/server.ts'
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts'
import { type RunningDynamodb, startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import type { Manners } from '../../../infra/local/manners.ts'
import { requireEnv } from '../../../shared/env.ts'
import { stackModel } from '../../infra/local/aws/stack.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'

/** How many of the next writes meet a transaction. */
let conflicts = 0
const manners: Manners = {
  speed: 1,
  has: (manner) => manner === 'conflicts',
  draw: () => 0,
  happens: (manner) => manner === 'conflicts' && (conflicts -= 1) >= 0,
}

let dynamodb: RunningDynamodb
let aws: AwsEndpoint
beforeAll(async () => {
  dynamodb = await startDynamodb(undefined)
  const TableName = requireEnv('TABLE_NAME')
  const keys = [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ]
  const createTableInput = {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keys,
    AttributeDefinitions: keys.map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' })),
  }
  const model = stackModel({
    tables: [{ name: TableName, arn: TableName, createTableInput, ttlAttribute: undefined }],
  })
  await createTables(dynamodb.endpoint, requireEnv('AWS_REGION'), model.tables)
  aws = await startAwsEndpoint({
    port: 0,
    model,
    manners,
    dynamodbEndpoint: dynamodb.endpoint,
    dataDirectory: undefined,
    invoke: () => Promise.reject(new Error('nothing invokes a function here')),
  })
  process.env['AWS_ENDPOINT_URL'] = aws.url
})
afterAll(async () => {
  await aws.close()
  await dynamodb.close()
})

// The client takes its address from the environment when its module loads, so after the server has started.
const { publicEndpoint } = await import('../../../shared/http/endpoint.ts')
const load = async () => ({
  ...(await import('../../../shared/db/read.ts')),
  ...(await import('../../../shared/db/write.ts')),
})
type Kit = Awaited<ReturnType<typeof load>>

const key = { pk: 'a', sk: 'a' }
const increment = {
  Key: key,
  UpdateExpression: 'ADD #count :one',
  ExpressionAttributeNames: { '#count': 'count' },
  ExpressionAttributeValues: { ':one': 1 },
}
const writes: [string, (kit: Kit) => Promise<unknown>][] = [
  ['PutItem', ({ writeItem }) => writeItem({ Put: { Item: { ...key, count: 0 } } })],
  ['UpdateItem', ({ writeItem }) => writeItem({ Update: increment })],
  ['TransactWriteItems', ({ transact }) => transact([{ Update: increment }])],
  ['DeleteItem', ({ writeItem }) => writeItem({ Delete: { Key: key } })],
]

it.each(writes)(
  '%s that meets transactions on its item is written once they are over',
  async (name, write) => {
    const kit = await load()
    conflicts = 10
    await write(kit)
    expect(conflicts).toBeLessThan(0)
    const counts = { PutItem: '0', UpdateItem: '1', TransactWriteItems: '2', DeleteItem: undefined }
    const item = await kit.readItem(key, { consistent: true })
    expect((item?.['count'] as { value: string } | undefined)?.value).toBe(
      counts[name as keyof typeof counts],
    )
  },
)

it.each(writes)(
  'an endpoint answers 503 with Retry-After, and counts no fault, when its %s meets transactions for too long',
  async (_name, write) => {
    const kit = await load()
    const handler = publicEndpoint({
      input: v.object({}),
      output: v.null(),
      async run() {
        await write(kit)
        return null
      },
    })
    conflicts = Infinity
    vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => void vi.restoreAllMocks())
    const metrics = await emittedMetrics(async () => {
      expect(await callEndpoint(handler, {})).toMatchObject({
        status: 503,
        code: 50300,
        headers: { 'retry-after': '1' },
      })
    })
    expect(metrics.map(({ name }) => name)).not.toContain('Faults')
  },
)
