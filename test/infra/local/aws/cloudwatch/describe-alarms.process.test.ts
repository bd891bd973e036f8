import { CloudWatchClient, DescribeAlarmsCommand, ListMetricsCommand } from '@aws-sdk/client-cloudwatch'
import { BatchGetItemCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { SmithyRpcV2CborProtocol } from '@smithy/core/cbor'
import { expect, it } from 'vitest'
import type { AlarmModel } from '../../../../../infra/local/model.ts'
import { serveHttp } from '../../../../support/serve-http.ts'
import { accountId, alwaysBad, arnOf, region, stackModel, startStack } from '../stack.ts'

const metric = { namespace: 'AWS/DynamoDB', name: 'ReadThrottleEvents', dimensions: { TableName: 'table' } }
const alarm = (name: string): AlarmModel => ({
  name,
  arn: `arn:aws:cloudwatch:${region}:${accountId}:alarm:${name}`,
  description: 'The table is throttled. What to do: infra/RUNBOOK.md#table-throttles',
  notifies: false,
  queries: [{ id: 'metric', metric, statistic: 'Sum', periodSeconds: 60 }],
  expression: 'FILL(metric, 0)',
  threshold: 1,
  comparison: 'GreaterThanOrEqualToThreshold',
  evaluationPeriods: 1,
  missingIsBreaching: false,
})
const composite = {
  ...alarm('a-health'),
  rule: `(ALARM("${alarm('a-throttles').arn}"))`,
  suppressor: undefined,
}
const model = stackModel({
  alarms: [alarm('a-throttles'), alarm('b-throttles')],
  compositeAlarms: [composite],
  tables: [
    {
      name: 'table',
      arn: arnOf('dynamodb', 'table/table'),
      createTableInput: { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] },
      ttlAttribute: undefined,
    },
  ],
})

const options = { region, credentials: { accessKeyId: 'any', secretAccessKey: 'any' } }
const connect = (endpoint: string, protocol?: typeof SmithyRpcV2CborProtocol) =>
  new CloudWatchClient({
    endpoint,
    ...(protocol && { protocol }),
    ...options,
    maxAttempts: 1,
  })

it.each([
  ['AWS JSON 1.0, which the AWS SDK prefers', undefined],
  ['Smithy RPC v2 CBOR, which the AWS command line prefers', SmithyRpcV2CborProtocol],
])('the alarms that a throttled table has raised are listed in %s', async (_name, protocol) => {
  const error = { __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException' }
  await serveHttp(
    (_request, response) => response.writeHead(400).end(JSON.stringify(error)),
    async (dynamodbEndpoint) => {
      const { endpoint, dynamodb } = await startStack(model, { dynamodbEndpoint })
      const client = connect(endpoint.url, protocol)
      const list = async (input: object) => {
        const { MetricAlarms = [], CompositeAlarms = [] } = await client.send(
          new DescribeAlarmsCommand(input),
        )
        return [...MetricAlarms, ...CompositeAlarms].map(({ AlarmName }) => AlarmName)
      }
      expect(await list({ StateValue: 'ALARM' })).toEqual([])
      expect(await list({ StateValue: 'OK' })).toEqual(['a-throttles', 'b-throttles'])

      const get = new GetItemCommand({ TableName: 'table', Key: { pk: { S: '1' } } })
      await expect(dynamodb.send(get)).rejects.toThrow()
      endpoint.cloudwatch.advance(1)
      expect(await list({ StateValue: 'ALARM', AlarmNamePrefix: 'b-' })).toEqual(['b-throttles'])
      expect(await list({ AlarmNames: ['a-throttles'] })).toEqual(['a-throttles'])
      const types = ['CompositeAlarm', 'MetricAlarm'] as const
      expect(await list({ AlarmTypes: types, AlarmNamePrefix: 'a-' })).toEqual(['a-throttles', 'a-health'])
      const { MetricAlarms = [] } = await client.send(new DescribeAlarmsCommand({}))
      expect(MetricAlarms[0]).toMatchObject({
        AlarmName: 'a-throttles',
        AlarmDescription: alarm('').description,
        StateValue: 'ALARM',
        StateUpdatedTimestamp: expect.any(Date) as Date,
      })
    },
  )
})

it('an operation that is not emulated is refused in CBOR, too', async () => {
  const { endpoint } = await startStack(model)
  const client = connect(endpoint.url, SmithyRpcV2CborProtocol)
  await expect(client.send(new ListMetricsCommand({}))).rejects.toMatchObject({
    name: 'UnknownOperationException',
  })
})

it('what the manner throttles refuses is counted, as AWS counts it', async () => {
  const { endpoint } = await startStack(model, { manners: alwaysBad(['throttles']) })
  // The last attempt is never throttled: it finds no DynamoDB.
  const client = new DynamoDBClient({ endpoint: endpoint.url, ...options, maxAttempts: 2 })
  const get = { RequestItems: { table: { Keys: [{ pk: { S: '1' } }] } } }
  await expect(client.send(new BatchGetItemCommand(get))).rejects.toThrow()
  client.destroy()
  expect(endpoint.cloudwatch.metrics.has(metric)).toBe(true)
})
