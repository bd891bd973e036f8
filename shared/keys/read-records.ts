import * as v from 'valibot'
import { keysPartition } from './keys-partition.ts'
import { queryItems } from '../db/read.ts'

/** All records of the keys' partition whose sort keys begin so, in the order of these; a few a month. Reads are consistent. */
export async function readRecords<Schema extends v.GenericSchema>(
  schema: Schema,
  prefix: string,
): Promise<v.InferOutput<Schema>[]> {
  const records: v.InferOutput<Schema>[] = []
  const items = queryItems({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': keysPartition, ':prefix': prefix },
    ConsistentRead: true,
  })
  for await (const item of items) records.push(v.parse(schema, item))
  return records
}
