import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { db, tableName } from '../db/table.ts'
import { Evidence, evidencePrefix } from './evidence.ts'
import { keysPartition } from './keys-partition.ts'

/** All evidence, oldest first: a few records a month. */
export async function readEvidence(): Promise<Evidence[]> {
  const evidence: Evidence[] = []
  let start: Record<string, unknown> | undefined
  do {
    const { Items = [], LastEvaluatedKey } = await db.send(
      new QueryCommand({
        TableName: tableName(),
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': keysPartition, ':prefix': evidencePrefix },
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    )
    evidence.push(...v.parse(v.array(Evidence), Items))
    start = LastEvaluatedKey
  } while (start !== undefined)
  return evidence
}
