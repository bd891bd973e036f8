import { DeleteTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { openReplica, replicaOf } from '../../../infra/local/aws/dynamodb/replica.ts'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { tableName } from '../../../shared/db/table.ts'
import { requireEnv } from '../../../shared/env.ts'
import { useOwnTable } from '../../support/own-table.ts'
import type { Draws } from './draws.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Creates a table for one history; with `staleReads` also one that lags behind it in virtual time. */
export async function openTable(time: VirtualTime, draws: Draws, { staleReads }: { staleReads: number }) {
  const removeTable = await useOwnTable()
  if (staleReads === 0) return { replica: undefined, close: removeTable }
  const client = new DynamoDBClient(clientOptions())
  const name = tableName()
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
  const createTableInput = {
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: Table?.AttributeDefinitions,
    KeySchema: Table?.KeySchema,
    GlobalSecondaryIndexes: Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
      IndexName,
      KeySchema,
      Projection,
    })),
  }
  const replica = await openReplica({
    model: { tables: [{ name, arn: name, createTableInput, ttlAttribute: undefined }] },
    endpoint: requireEnv('AWS_ENDPOINT_URL'),
    manners: {
      speed: 1,
      has: () => true,
      draw: (manner, stream) => draws.number(`${stream} ${manner}`),
      happens: () => true,
    },
    report: (problem) => process.stderr.write(`${problem}\n`),
    now: () => time.now,
    flushesItself: false,
  })
  return {
    replica,
    close: async () => {
      await replica.close()
      await client.send(new DeleteTableCommand({ TableName: replicaOf(name) }))
      client.destroy()
      await removeTable()
    },
  }
}
