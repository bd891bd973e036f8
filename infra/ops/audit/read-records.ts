import { NumberValue, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../../../shared/canonical-json.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import { Evidence } from '../../../shared/keys/evidence.ts'
import { keysPartition } from '../../../shared/keys/key-names.ts'
import { SigningKey, SigningKeySet, signingKeySetKey } from '../../../shared/keys/key-set.ts'
import { archivePrefix, evidencePrefix } from '../../../shared/keys/key-set-store.ts'
import type { EvidenceRow, Facts } from './facts.ts'

type Records = Pick<Facts, 'ring' | 'evidence' | 'archive' | 'unreadable'>

/** Reads everything that the table says of keys. An item that was spoilt is reported, not thrown over. */
export async function readRecords(): Promise<Records> {
  const records: Records = { ring: undefined, evidence: [], archive: [], unreadable: [] }
  for await (const item of readPartition()) {
    const sortKey = String(item['sk'])
    if (sortKey === signingKeySetKey.sk) records.ring = keep(SigningKeySet, item, records)
    else if (sortKey.startsWith(evidencePrefix)) records.evidence.push(readEvidenceRow(item, records))
    else if (sortKey.startsWith(archivePrefix)) {
      const key = keep(SigningKey, item, records)
      if (key !== undefined) records.archive.push(key)
    } else records.unreadable.push(sortKey)
  }
  return records
}

async function* readPartition(): AsyncGenerator<Record<string, unknown>> {
  let start: Record<string, unknown> | undefined
  do {
    const { Items = [], LastEvaluatedKey } = await db.send(
      new QueryCommand({
        TableName: tableName(),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': keysPartition },
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    )
    yield* Items
    start = LastEvaluatedKey
  } while (start !== undefined)
}

function keep<Schema extends v.GenericSchema>(
  schema: Schema,
  item: Record<string, unknown>,
  { unreadable }: Records,
): v.InferOutput<Schema> | undefined {
  const parsed = v.safeParse(schema, item)
  if (parsed.success) return parsed.output
  unreadable.push(String(item['sk']))
  return undefined
}

function readEvidenceRow(item: Record<string, unknown>, records: Records): EvidenceRow {
  return {
    sortKey: String(item['sk']),
    hash: hashItem(item),
    record: keep(Evidence, item, records),
  }
}

/** What is no content of a record: where it stands, and its own hash. */
const besides = new Set(['pk', 'sk', 'hash'])

/** Of the whole item, so that an attribute that was added shows as one that was changed does. */
function hashItem(item: Record<string, unknown>): string {
  const content = Object.fromEntries(Object.entries(item).filter(([name]) => !besides.has(name)))
  return createHash('sha256')
    .update(canonicalJson(toPlain(content)))
    .digest('hex')
}

function toPlain(value: unknown): unknown {
  if (value instanceof NumberValue) return Number(value.value)
  if (Array.isArray(value)) return value.map(toPlain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toPlain(member)]))
}
