import { afterAll, beforeAll } from 'vitest'
import { createTables } from '../../../../infra/local/dynamodb/create-tables.ts'
import { type RunningDynamodb, startDynamodb } from '../../../../infra/local/dynamodb/start-dynamodb.ts'
import type { Quirks } from '../../../../infra/local/quirks.ts'
import type { FunctionModel, TableModel } from '../../../../infra/local/model.ts'
import { arnOf, stackModel, startStack } from './stack.ts'

const typed = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const })
const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' as const })

/** A table with a secondary index, for tests of the AWS endpoint. */
export const table: TableModel = {
  name: 'main',
  arn: arnOf('dynamodb', 'table/main'),
  ttlAttribute: 'ttl',
  createTableInput: {
    TableName: 'main',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk', 'gpk'].map(typed),
    KeySchema: [hash('pk'), { AttributeName: 'sk', KeyType: 'RANGE' }],
    GlobalSecondaryIndexes: [
      { IndexName: 'byGroup', KeySchema: [hash('gpk')], Projection: { ProjectionType: 'ALL' } },
    ],
  },
}

/** Runs DynamoDB Local for a test file. Returns a function that starts an AWS endpoint serving `table`. */
export function useTable() {
  let local: RunningDynamodb
  beforeAll(async () => {
    local = await startDynamodb(undefined)
  })
  afterAll(() => local.close())
  return async (functions: FunctionModel[], quirks?: Quirks) => {
    await createTables(local.endpoint, [table])
    const options = { dynamodbEndpoint: local.endpoint, ...(quirks && { quirks }) }
    return startStack(stackModel({ functions, tables: [table] }), options)
  }
}
