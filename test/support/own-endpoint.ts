import { afterAll, beforeAll } from 'vitest'
import { type AwsEndpoint, startAwsEndpoint } from '../../infra/local/aws/server.ts'
import { createTables } from '../../infra/local/dynamodb/create-tables.ts'
import { type RunningDynamodb, startDynamodb } from '../../infra/local/dynamodb/start-dynamodb.ts'
import type { Manners } from '../../infra/local/manners.ts'
import { requireEnv } from '../../shared/env.ts'
import { stackModel } from '../infra/local/aws/stack.ts'

/**
 * Gives a test file a table behind an AWS endpoint with manners. Import code of shared/ in the tests only: a
 * client takes its address from the environment when its module loads.
 */
export function useOwnEndpoint(manners: Manners): void {
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
    await createTables(dynamodb.endpoint, model.tables)
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
}
