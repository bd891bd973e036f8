import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { GenerateMacCommand, SignCommand } from '@aws-sdk/client-kms'
import { expect } from 'vitest'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { kms } from '../../../../shared/aws/kms.ts'
import { tableName } from '../../../../shared/db/table.ts'
import { requireEnv } from '../../../../shared/env.ts'
import { keyIn, readKeySet } from '../../../../shared/keys/set.ts'
import { bearer, createSession } from '../../../support/oauth-clients.ts'
import type { AlarmRehearsal, Room } from './room.ts'

const overview = 'dashboard-overview'
const askOverview = ({ url }: Room) => fetch(`${url}/dashboard/overview`)

const thresholdOf = ({ stack }: Room, alarm: string): number =>
  stack.model.alarms.find(({ name }) => name === alarm)?.threshold ?? expect.unreachable()

const Message = Buffer.from('of another application')

/** Makes calls of KMS in each of so many minutes, as another application of the account may. */
async function callKms(room: Room, alarm: string, minutes: number, call: () => Promise<unknown>) {
  for (let minute = 0; minute < minutes; minute += 1) {
    for (let left = thresholdOf(room, alarm); left > 0; left -= 8)
      await Promise.all(Array.from({ length: 8 }, call))
    await room.pass(1)
  }
}

/** Sends requests while DynamoDB does not answer, each of which keeps a function waiting. */
async function crowdFunctions(room: Room): Promise<void> {
  const { accessToken } = await createSession()
  const crowd = thresholdOf(room, 'account-concurrency')
  const arrived = room.relay.hold('TOKENS#')
  const ask = () => fetch(`${room.url}/account/info`, { headers: bearer(accessToken) })
  const answers = Promise.all(Array.from({ length: crowd }, ask))
  await arrived
  try {
    await room.concurrent(crowd)
  } finally {
    room.relay.recover()
    await answers
  }
}

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
    cause: 'requests pile up behind a database that does not answer: the account’s concurrency is used up',
    raises: ['account-concurrency'],
    journey: 'shared',
    fault: crowdFunctions,
    minutes: 1,
    async mend({ section, people }) {
      section('function-throttles')
      expect(await people.read((await createSession()).accessToken)).toBe(200)
    },
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
    cause: 'another application uses up the account’s quota of symmetric keys',
    raises: ['kms-symmetric-quota'],
    journey: 'shared',
    fault: (room) => {
      const input = { KeyId: requireEnv('MAC_KEY_ID'), MacAlgorithm: 'HMAC_SHA_256', Message } as const
      return callKms(room, 'kms-symmetric-quota', 1, () => kms.send(new GenerateMacCommand(input)))
    },
    minutes: 0,
    mend: expectSignIn,
  },
  {
    cause: 'another application uses up the account’s quota of signatures',
    raises: ['kms-quota'],
    journey: 'keys',
    async fault(room) {
      const { arn: KeyId } = keyIn((await readKeySet()).keys, 'active') ?? expect.unreachable()
      const input = { KeyId, SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256', Message } as const
      await callKms(room, 'kms-quota', 3, () => kms.send(new SignCommand(input)))
    },
    minutes: 0,
    mend: expectSignIn,
  },
]

/** The quota counts calls of each minute, so what was refused succeeds later. */
async function expectSignIn({ section, people }: Room): Promise<void> {
  section('kms-quota')
  await people.signIn()
}
