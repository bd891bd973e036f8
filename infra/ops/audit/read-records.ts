import { NumberValue } from '@aws-sdk/lib-dynamodb'
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../../../shared/canonical-json.ts'
import { queryItems } from '../../../shared/db/read.ts'
import type { Item } from '../../../shared/db/table.ts'
import { Evidence, evidencePrefix } from '../../../shared/keys/evidence.ts'
import { keysPartition } from '../../../shared/aws/signing-key-names.ts'
import { archivePrefix, SigningKey, SigningKeySet, signingKeySetKey } from '../../../shared/keys/set.ts'
import type { EvidenceRow, Facts } from './facts.ts'

type Records = Pick<Facts, 'keySet' | 'evidence' | 'archive' | 'unreadable'>

/** Reads the key set, the evidence and the archive from the table. Invalid items are listed, not thrown. */
export async function readRecords(): Promise<Records> {
  const records: Records = { keySet: undefined, evidence: [], archive: [], unreadable: [] }
  const items = queryItems({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keysPartition },
    ConsistentRead: true,
  })
  for await (const item of items) {
    const sortKey = String(item['sk'])
    if (sortKey === signingKeySetKey.sk) records.keySet = parseItem(SigningKeySet, item, records)
    else if (sortKey.startsWith(evidencePrefix)) records.evidence.push(toEvidenceRow(item, records))
    else if (sortKey.startsWith(archivePrefix)) {
      const key = parseItem(SigningKey, item, records)
      if (key !== undefined) records.archive.push(key)
    } else records.unreadable.push(sortKey)
  }
  return records
}

function parseItem<Schema extends v.GenericSchema>(
  schema: Schema,
  item: Item,
  { unreadable }: Records,
): v.InferOutput<Schema> | undefined {
  const parsed = v.safeParse(schema, item)
  if (parsed.success) return parsed.output
  unreadable.push(String(item['sk']))
  return undefined
}

/** Attributes that an evidence record's hash does not cover. */
const notHashed = new Set(['pk', 'sk', 'hash', 'signature'])

/** Reads an evidence record. Its hash also covers unknown attributes, so an added attribute is detected. */
function toEvidenceRow(item: Item, records: Records): EvidenceRow {
  const hashed = Object.fromEntries(Object.entries(item).filter(([name]) => !notHashed.has(name)))
  const content = canonicalJson(withPlainNumbers(hashed))
  return {
    sortKey: String(item['sk']),
    content,
    hash: createHash('sha256').update(content).digest('hex'),
    record: parseItem(Evidence, item, records),
  }
}

function withPlainNumbers(value: unknown): unknown {
  if (value instanceof NumberValue) return Number(value.value)
  if (Array.isArray(value)) return value.map(withPlainNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withPlainNumbers(member)]))
}
