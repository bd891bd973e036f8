import * as v from 'valibot'
import { queryItems, readItem } from '../db/read.ts'
import type { Key } from '../db/table.ts'
import { putNew, putVersioned, tryTransact } from '../db/write.ts'
import { Evidence } from './evidence.ts'
import { keysPartition } from './key-names.ts'
import { SigningKey, type SigningKeySet, signingKeySetKey } from './key-set.ts'
import { itemType } from '../db/item-type.ts'

const evidenceType = itemType({
  pk: keysPartition,
  sk: 'EVIDENCE#{sequence}',
  holds: 'the evidence of one transition of a signing key',
  found: 'by its number; all of them in order',
})
const archiveType = itemType({
  pk: keysPartition,
  sk: 'RETIRED#{kid}',
  holds: 'a retired key, after it has left the key set',
  found: 'by kid; all of them',
})

/** Prefix of the sort keys of all evidence records. */
export const evidencePrefix = evidenceType.sortKeyPrefix

/** Key of an evidence record. The number has a fixed width, so sort keys have the order of the numbers. */
export const evidenceKey = (sequence: number): Key =>
  evidenceType.key({ sequence: String(sequence).padStart(12, '0') })

/** Prefix of the sort keys of all archived signing keys. */
export const archivePrefix = archiveType.sortKeyPrefix

const archiveKey = (kid: string): Key => archiveType.key({ kid })

/** The kid of the archived key under a sort key; undefined for the sort key of another item. */
export const archivedKid = (sortKey: string): string | undefined =>
  sortKey.startsWith(archivePrefix) ? sortKey.slice(archivePrefix.length) : undefined

/** Reads all evidence records, oldest first; a few are added each month. */
export const readEvidence = (): Promise<Evidence[]> => readRecords(Evidence, evidencePrefix)

/** Reads every archived signing key; about a dozen are added each year. */
export const readArchive = (): Promise<SigningKey[]> => readRecords(SigningKey, archivePrefix)

/** Whether a signing key with this kid has been archived. */
export const isArchived = async (kid: string): Promise<boolean> =>
  (await readItem(archiveKey(kid), { consistent: true })) !== undefined

async function readRecords<Schema extends v.GenericSchema>(
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

/**
 * Time limit of writing the key set, retries included. It is below `commitSlackMilliseconds`, which the
 * instants in the key set rely on; the rest is for clocks that differ.
 */
const maxWriteMilliseconds = 2_000

/**
 * Replaces the key set that was read, and adds the evidence of the transition and the key that it archives,
 * in one transaction. Resolves with false, and writes nothing, if the stored key set has changed since it was
 * read.
 */
export async function writeKeySet(
  read: SigningKeySet,
  next: Omit<SigningKeySet, 'version'>,
  { evidence, archived }: { evidence?: Evidence; archived?: SigningKey | undefined } = {},
): Promise<boolean> {
  const writes = [putVersioned({ ...next, version: read.version + 1, ...signingKeySetKey }, read.version)]
  if (evidence !== undefined) writes.push(putNew({ ...evidence, ...evidenceKey(evidence.sequence) }))
  if (archived !== undefined) writes.push(putNew({ ...archived, ...archiveKey(archived.kid) }))
  const failures = await tryTransact(writes, { abortSignal: AbortSignal.timeout(maxWriteMilliseconds) })
  return failures.length === 0
}
