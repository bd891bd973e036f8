import { createTables } from '../../../infra/local/dynamodb/create-tables.ts'
import { startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import { indexName } from '../../../shared/db/table-layout.ts'

const table = 'bench'

const key = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' as const },
  { AttributeName: sort, KeyType: 'RANGE' as const },
]

/**
 * Starts a DynamoDB Local of its own with the service's table, and sets the environment of a function. Import
 * modules of shared/ after calling this, because they read the environment when they load. The table is in
 * memory, or in a directory.
 */
export async function startBenchTable(
  directory?: string,
): Promise<{ name: string; close: () => Promise<void> }> {
  const dynamodb = await startDynamodb(directory)
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: new URL(dynamodb.endpoint).origin,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: new URL(dynamodb.endpoint).username,
    AWS_SECRET_ACCESS_KEY: 'bench',
    TABLE_NAME: table,
  })
  await createTables(dynamodb.endpoint, [
    {
      name: table,
      arn: table,
      ttlAttribute: undefined,
      createTableInput: {
        TableName: table,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk', 'gpk', 'gsk'].map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        KeySchema: key('pk', 'sk'),
        GlobalSecondaryIndexes: [
          {
            IndexName: indexName,
            KeySchema: key('gpk', 'gsk'),
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
      },
    },
  ])
  return { name: table, close: () => dynamodb.close() }
}
