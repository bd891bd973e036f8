import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { db, tableName } from '../db/table.ts'
import { keysPartition } from './keys-partition.ts'

/** All records of the keys' partition whose sort keys begin so, in the order of these; a few a month. Reads are consistent. */
export async function readRecords<Schema extends v.GenericSchema>(
  schema: Schema,
  prefix: string,
): Promise<v.InferOutput<Schema>[]> {
  const records: v.InferOutput<Schema>[] = []
  let start: object | undefined
  do {
    const { Items = [], LastEvaluatedKey } = await db.send(
      new QueryCommand({
        TableName: tableName(),
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': keysPartition, ':prefix': prefix },
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    )
    records.push(...v.parse(v.array(schema), Items))
    start = LastEvaluatedKey
  } while (start !== undefined)
  return records
}
