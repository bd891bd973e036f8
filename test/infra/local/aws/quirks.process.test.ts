import { GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { GetQueueUrlCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, it, vi } from 'vitest'
import { useTable } from './local-table.ts'
import {
  allowRule,
  alwaysBad,
  arnOf,
  consume,
  eventSourceModel,
  functionModel,
  queueModel,
  region,
  ruleModel,
  stackModel,
  startStack,
} from './stack.ts'

const start = useTable()
const TableName = 'main'
const Key = { pk: { S: 'conflict' }, sk: { S: 'A' } }

it('the quirk “conflicts” refuses a write, with TransactionConflictException', async () => {
  const { dynamodb: client } = await start([], alwaysBad(['conflicts']))
  await expect(client.send(new PutItemCommand({ TableName, Item: Key }))).rejects.toMatchObject({
    name: 'TransactionConflictException',
    $metadata: { httpStatusCode: 400 },
  })
  expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toBeUndefined()
})

it.each([
  ['conflicts', 'TransactionConflict'],
  ['throttles', 'ThrottlingError'],
] as const)('if %s are simulated, transactions are cancelled with the reason %s', async (quirk, Code) => {
  const { dynamodb: client } = await start([], alwaysBad([quirk], 0.5))
  const TransactItems = ['a', 'b'].map((pk) => ({ Put: { TableName, Item: { ...Key, pk: { S: pk } } } }))
  await expect(client.send(new TransactWriteItemsCommand({ TransactItems }))).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'None' }, { Code }],
  })
})

it('with the quirk “throttles”, a call is refused as its service does, until the SDK retries', async () => {
  const { endpoint } = await startStack(stackModel({ queues: [queueModel('work')] }), {
    quirks: alwaysBad(['throttles']),
  })
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' }
  const sqs = new SQSClient({ endpoint: endpoint.url, region, credentials, maxAttempts: 2 })
  const { $metadata } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'work' }))
  expect($metadata.attempts).toBe(2)
})

const bus = stackModel({
  queues: [
    queueModel('work', { policies: [{ Version: '2012-10-17', Statement: [allowRule('work', 'all')] }] }),
  ],
  rules: [
    ruleModel('all', { pattern: { source: ['s'] }, targets: [{ id: 't', arn: arnOf('sqs', 'work') }] }),
  ],
})
const put = new PutEventsCommand({
  Entries: [{ EventBusName: 'events', Source: 's', DetailType: 't', Detail: '{}' }],
})

it('the simulated behaviour “duplicate-events” makes EventBridge deliver an event twice with the same id', async () => {
  const { events, sqs } = await startStack(bus, { quirks: alwaysBad(['duplicate-events']) })
  const { Entries = [] } = await events.send(put)
  const QueueUrl = queueModel('work').url
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
  const ids = Messages.map(({ Body = '{}' }) => (JSON.parse(Body) as { id: string }).id)
  expect(ids).toEqual([Entries[0]?.EventId, Entries[0]?.EventId])
})

it('the simulated behaviour “throttles” makes PutEvents accept a request and refuse an entry in it', async () => {
  const { events } = await startStack(bus, { quirks: alwaysBad(['throttles']) })
  expect(await events.send(put)).toMatchObject({
    FailedEntryCount: 1,
    Entries: [{ ErrorCode: 'ThrottlingException' }],
  })
})

const queue = queueModel('work', { visibilityTimeoutSeconds: 120 })
const delivering = stackModel({
  functions: [functionModel('worker', [consume])],
  queues: [queue],
  eventSources: [eventSourceModel(queue)],
})

it('with speed=240, a message whose function timed out is visible after 1/240 of its timeout', async () => {
  const endings: (number | undefined)[] = []
  const quirks = alwaysBad(['timeouts'], 0.5)
  const { endpoint, sqs } = await startStack(delivering, {
    quirks: { ...quirks, speed: 240, happens: (quirk) => quirks.has(quirk) && endings.length === 0 },
    async invoke(_name, _payload, endAfterMilliseconds) {
      endings.push(endAfterMilliseconds)
      const failed = endAfterMilliseconds === undefined ? {} : { functionError: 'Unhandled' as const }
      return { payload: 'null', ...failed }
    },
  })
  endpoint.startDelivery()
  await sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'a' }))
  await vi.waitFor(() => expect(endings).toEqual([50, undefined]), 5000)
  await vi.waitFor(() => expect(endpoint.queues()[0]).toMatchObject({ visible: 0, inFlight: 0 }), 1000)
})
