import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { db } from '../../../shared/db/table.ts'
import { readCompletion } from '../../../shared/events/packed-events.ts'
import { minAgeMilliseconds } from '../events/pack-records.ts'
import { formatInstant } from '../terminal.ts'
import type { Finding } from './finding.ts'

const yearMilliseconds = 365 * 86_400_000

/** Checks that old events are packed so often that no record of one is kept for more than a year. */
export async function checkOldEvents(tableName: string): Promise<Finding> {
  const packedAt = await readCompletion()
  const { Table } = await db.send(new DescribeTableCommand({ TableName: tableName }))
  const since = packedAt ?? Table?.CreationDateTime?.getTime() ?? 0
  return {
    ok: Date.now() - since < yearMilliseconds - minAgeMilliseconds,
    words: packedAt === undefined ? 'never packed' : `packed ${formatInstant(packedAt)}`,
  }
}
