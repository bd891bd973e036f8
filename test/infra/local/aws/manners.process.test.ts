import {
  BatchGetItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { KMSClient, ListKeysCommand } from '@aws-sdk/client-kms'
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { GetQueueUrlCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTables } from '../../../../infra/local/dynamodb/create-tables.ts'
import { type RunningDynamodb, startDynamodb } from '../../../../infra/local/dynamodb/start-dynamodb.ts'
import type { Manners } from '../../../../infra/local/manners.ts'
import type { PolicyStatement } from '../../../../infra/local/model.ts'
import {
  allowRule,
  alwaysBad,
  arnOf,
  eventSourceModel,
  functionModel,
  queueModel,
  region,
  ruleModel,
  stackModel,
  startStack,
} from './stack.ts'

let local: RunningDynamodb
beforeAll(async () => {
  local = await startDynamodb(undefined)
})
afterAll(() => local.close())

const table = {
  name: 'main',
  arn: arnOf('dynamodb', 'table/main'),
  ttlAttribute: undefined,
  createTableInput: {
    TableName: 'main',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'gpk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byGroup',
        KeySchema: [{ AttributeName: 'gpk', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  },
}
const TableName = 'main'

async function startTable(manners: Manners): Promise<DynamoDBClient> {
  const model = stackModel({ tables: [table] })
  await createTables(local.endpoint, model.tables)
  return (await startStack(model, { dynamodbEndpoint: local.endpoint, manners })).dynamodb
}

describe('the manner conflicts', () => {
  const Key = { pk: { S: 'conflict' } }

  it.each([
    ['PutItem', new PutItemCommand({ TableName, Item: Key })],
    ['UpdateItem', new UpdateItemCommand({ TableName, Key, UpdateExpression: 'REMOVE a' })],
    ['DeleteItem', new DeleteItemCommand({ TableName, Key })],
  ])('%s is refused with TransactionConflictException, and writes nothing', async (_operation, command) => {
    const client = await startTable(alwaysBad(['conflicts']))
    await expect(client.send(command as PutItemCommand)).rejects.toMatchObject({
      name: 'TransactionConflictException',
      $metadata: { httpStatusCode: 400 },
    })
    expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toBeUndefined()
  })

  it.each([
    ['conflicts', 'TransactionConflict'],
    ['throttles', 'ThrottlingError'],
  ] as const)('of the manner %s, a transaction is cancelled with the reason %s', async (manner, Code) => {
    const client = await startTable(alwaysBad([manner], 0.5))
    const TransactItems = ['a', 'b'].map((pk) => ({ Put: { TableName, Item: { pk: { S: pk } } } }))
    await expect(client.send(new TransactWriteItemsCommand({ TransactItems }))).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code }],
    })
  })
})

describe('the manner stale-reads', () => {
  it('reads miss a write of the last second, those of an index too, but strongly consistent ones do not', async () => {
    const client = await startTable(alwaysBad(['stale-reads'], 0.5))
    const Key = { pk: { S: 'stale' } }
    const group = { ExpressionAttributeValues: { ':g': { S: 'g' } }, KeyConditionExpression: 'gpk = :g' }
    const count = async (consistent: boolean) => {
      const ConsistentRead = consistent
      const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead }))
      const RequestItems = { main: { Keys: [Key], ConsistentRead } }
      const batch = await client.send(new BatchGetItemCommand({ RequestItems }))
      const scan = await client.send(new ScanCommand({ TableName, ConsistentRead }))
      const inScan = scan.Items?.filter(({ pk }) => pk?.S === 'stale').length ?? 0
      return [Item === undefined ? 0 : 1, batch.Responses?.['main']?.length, inScan]
    }
    const byIndex = async () =>
      (await client.send(new QueryCommand({ TableName, IndexName: 'byGroup', ...group }))).Count
    await client.send(new PutItemCommand({ TableName, Item: { ...Key, gpk: { S: 'g' } } }))
    expect(await count(false)).toEqual([0, 0, 0])
    expect(await byIndex()).toBe(0)
    expect(await count(true)).toEqual([1, 1, 1])
    await vi.waitFor(async () => expect(await count(false)).toEqual([1, 1, 1]), 3000)
    expect(await byIndex()).toBe(1)
    await client.send(new DeleteItemCommand({ TableName, Key }))
    expect(await count(false)).toEqual([1, 1, 1])
    await vi.waitFor(async () => expect(await count(false)).toEqual([0, 0, 0]), 3000)
  })

  it('the replica begins with what the table holds', async () => {
    const Key = { pk: { S: 'kept' } }
    const before = await startTable(alwaysBad([]))
    await before.send(new PutItemCommand({ TableName, Item: Key }))
    const client = await startTable(alwaysBad(['stale-reads']))
    expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toEqual(Key)
  })
})

describe('the manner throttles', () => {
  it.each([
    [
      'DynamoDB',
      'ProvisionedThroughputExceededException',
      DynamoDBClient,
      new GetItemCommand({ TableName, Key: { pk: { S: 'a' } } }),
    ],
    ['SQS', 'RequestThrottled', SQSClient, new GetQueueUrlCommand({ QueueName: 'work' })],
    ['KMS', 'ThrottlingException', KMSClient, new ListKeysCommand({})],
    [
      'EventBridge',
      'ThrottlingException',
      EventBridgeClient,
      new PutEventsCommand({ Entries: [{ Source: 's', DetailType: 't', Detail: '{}' }] }),
    ],
    ['Lambda', 'TooManyRequestsException', LambdaClient, new ListFunctionsCommand({})],
    [
      'SES',
      'TooManyRequestsException',
      SESv2Client,
      new SendEmailCommand({
        FromEmailAddress: 'a@example.com',
        Destination: { ToAddresses: ['b@example.com'] },
        Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } } } },
      }),
    ],
  ])(
    '%s refuses a call with %s, which the SDK retries with success',
    async (_service, name, Client, command) => {
      const model = stackModel({ tables: [table], queues: [queueModel('work')] })
      await createTables(local.endpoint, model.tables)
      const manners = alwaysBad(['throttles'])
      const { endpoint } = await startStack(model, { dynamodbEndpoint: local.endpoint, manners })
      const credentials = { accessKeyId: 'AKIDOWNER', secretAccessKey: 'any' }
      const client = new Client({
        endpoint: endpoint.url,
        region,
        credentials,
        maxAttempts: 2,
      }) as DynamoDBClient
      const refusals: string[] = []
      client.middlewareStack.add(
        (next) => async (args) => {
          try {
            return await next(args)
          } catch (error) {
            refusals.push((error as Error).name)
            throw error
          }
        },
        { step: 'deserialize', priority: 'high' },
      )
      await client.send(command as GetItemCommand)
      expect(refusals).toEqual([name])
    },
  )
})

describe('the manners of EventBridge', () => {
  const model = stackModel({
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

  it('of the manner duplicate-events, an event is delivered twice with the same id', async () => {
    const { events, sqs } = await startStack(model, { manners: alwaysBad(['duplicate-events']) })
    const { Entries = [] } = await events.send(put)
    const QueueUrl = queueModel('work').url
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
    const ids = Messages.map(({ Body = '{}' }) => (JSON.parse(Body) as { id: string }).id)
    expect(ids).toEqual([Entries[0]?.EventId, Entries[0]?.EventId])
  })

  it('of the manner throttles, PutEvents takes a request and refuses an entry of it', async () => {
    const { events } = await startStack(model, { manners: alwaysBad(['throttles']) })
    expect(await events.send(put)).toMatchObject({
      FailedEntryCount: 1,
      Entries: [{ ErrorCode: 'ThrottlingException' }],
    })
  })
})

describe('the manners of functions', () => {
  const queue = queueModel('work', { visibilityTimeoutSeconds: 120 })
  const consume = {
    Effect: 'Allow',
    Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    Resource: '*',
  } satisfies PolicyStatement
  const model = stackModel({
    functions: [functionModel('worker', [consume])],
    queues: [queue],
    eventSources: [eventSourceModel(queue)],
  })

  it('a batch that ended early comes again after the visibility timeout, which passes as fast as the speed', async () => {
    const endings: (number | undefined)[] = []
    const manners = alwaysBad(['timeouts'], 0.5)
    const { endpoint, sqs } = await startStack(model, {
      manners: {
        ...manners,
        speed: 240,
        happens: (manner) => manners.has(manner) && endings.length === 0,
      },
      async invoke(_name, _payload, _type, endAfterMilliseconds) {
        endings.push(endAfterMilliseconds)
        const failed = endAfterMilliseconds === undefined ? {} : { functionError: 'Unhandled' as const }
        return { payload: Buffer.from('null'), ...failed }
      },
    })
    endpoint.startDelivery()
    await sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'a' }))
    await vi.waitFor(() => expect(endings).toEqual([50, undefined]), 5000)
    await vi.waitFor(() => expect(endpoint.queues()[0]).toMatchObject({ visible: 0, inFlight: 0 }), 1000)
  })
})
