import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { expect } from 'vitest'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { tableName } from '../../../../shared/db/table.ts'
import { bearer, createSession } from '../../../support/oauth-clients.ts'
import type { AlarmRehearsal, Room } from './room.ts'

const overview = 'dashboard-overview'
const askOverview = ({ url }: Room) => fetch(`${url}/dashboard/overview`)

/** Records a value of a metric by hand in each of so many minutes. */
const byHand =
  (namespace: string, name: string, value: number, dimensions: Record<string, string>, minutes = 1) =>
  async ({ stack, pass }: Room) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      stack.aws.cloudwatch.record({ namespace, name, dimensions }, value)
      await pass(1)
    }
  }
const kmsCalls = (Resource: string, calls: number, minutes: number) =>
  byHand('AWS/Usage', 'CallCount', calls, { Service: 'KMS', Type: 'API', Resource, Class: 'None' }, minutes)
const nothing = async () => undefined

/** Writes that DynamoDB answers as if another transaction were at work on each of these items. */
async function conflict({ relay, pass }: Room): Promise<void> {
  const items = 100
  const none = { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' }
  relay.refuse('CONFLICT#', {
    __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
    message: 'Transaction cancelled',
    CancellationReasons: Array.from({ length: items }, () => none),
  })
  const client = new DynamoDBClient({ ...clientOptions(), maxAttempts: 1 })
  const TransactItems = Array.from({ length: items }, (_, item) => ({
    Put: { TableName: tableName(), Item: { pk: { S: `CONFLICT#${item}` }, sk: { S: 'X' } } },
  }))
  for (let minute = 0; minute < 5; minute += 1) {
    for (let transaction = 0; transaction < 6; transaction += 1)
      await expect(client.send(new TransactWriteItemsCommand({ TransactItems }))).rejects.toThrow('cancelled')
    await pass(1)
  }
  client.destroy()
}

/** The alarms on what every journey needs, and on single functions. */
export const sharedAlarms: AlarmRehearsal[] = [
  {
    cause: 'a function crashes, because its bundle lacks the handler',
    raises: [`${overview}-errors`],
    journey: 'community',
    async fault(room) {
      room.functionOf(overview).handler = 'index.gone'
      expect((await askOverview(room)).status).toBe(500)
    },
    async mend(room) {
      room.section('function-errors')
      // The line is no JSON, so `logOf` does not have it; a deployment of the last good version is a handler.
      room.functionOf(overview).handler = 'index.handler'
      expect((await askOverview(room)).status).toBe(401)
    },
  },
  {
    cause: 'Lambda starts a function no more, because its concurrency is used up',
    raises: [`${overview}-throttles`, 'api-server-errors'],
    journey: 'shared',
    async fault(room) {
      room.functionOf(overview).reservedConcurrency = 0
      expect((await askOverview(room)).status).toBe(503)
      await room.pass(5)
      expect((await askOverview(room)).status).toBe(503)
    },
    async mend(room) {
      room.section('function-throttles')
      room.functionOf(overview).reservedConcurrency = undefined
      expect((await askOverview(room)).status).toBe(401)
    },
  },
  {
    cause: 'by hand, because a laptop has no 800 executions: the account is near its concurrency limit',
    raises: ['account-concurrency'],
    journey: 'shared',
    fault: byHand('AWS/Lambda', 'ClaimedAccountConcurrency', 800, {}),
    minutes: 0,
    mend: nothing,
  },
  {
    cause: 'DynamoDB throttles the partitions of sessions',
    raises: ['table-throttles'],
    journey: 'shared',
    async fault({ relay, url }) {
      const { accessToken } = await createSession()
      relay.refuse('TOKENS#', {
        __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
        message: 'The level of configured provisioned throughput for the table was exceeded.',
      })
      expect((await fetch(`${url}/account/info`, { headers: bearer(accessToken) })).status).toBe(503)
      const client = new DynamoDBClient({ ...clientOptions(), maxAttempts: 1 })
      const key = { pk: { S: 'TOKENS#1' }, sk: { S: 'TOKEN#1' } }
      const calls = Array.from({ length: 40 }, () => [
        client.send(new GetItemCommand({ TableName: tableName(), Key: key })),
        client.send(new PutItemCommand({ TableName: tableName(), Item: key })),
      ])
      const settled = await Promise.allSettled(calls.flat())
      expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['rejected']))
      client.destroy()
    },
    minutes: 1,
    async mend({ relay, people, section }) {
      section('table-throttles')
      relay.recover()
      expect(await people.read((await createSession()).accessToken)).toBe(200)
    },
  },
  {
    cause: 'many writes meet a transaction on their item',
    raises: ['table-conflicts'],
    journey: 'shared',
    fault: conflict,
    minutes: 0,
    async mend({ relay, section }) {
      expect((await section('table-conflicts').ops('dlq list')).result).toHaveProperty('queues')
      relay.recover()
    },
  },
  {
    cause: 'by hand, because a laptop makes no 8,000 calls a second: the quota of symmetric keys is near',
    raises: ['kms-symmetric-quota'],
    journey: 'shared',
    fault: kmsCalls('CryptographicOperationsSymmetric', 480_000, 1),
    minutes: 0,
    mend: nothing,
  },
  {
    cause: 'by hand, because a laptop makes no 800 signatures a second: the quota of signatures is near',
    raises: ['kms-quota'],
    journey: 'keys',
    fault: kmsCalls('CryptographicOperationsRsa', 48_000, 3),
    minutes: 0,
    mend: nothing,
  },
]
