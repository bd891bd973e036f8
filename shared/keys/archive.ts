import { type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { keysPartition } from './keys-partition.ts'
import { readRecords } from './read-records.ts'
import { SigningKey } from './key-set.ts'
import { readItem } from '../db/read.ts'

/** Prefix of the sort keys of all archived keys. */
export const archivePrefix = 'RETIRED#'

const archiveKey = (kid: string): Key => ({ pk: keysPartition, sk: archivePrefix + kid })

/** The write that keeps a retired key on record after it has left the ring. */
export const archive = (key: SigningKey): Write => ({
  Put: {
    Item: { ...key, ...archiveKey(key.kid) },
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})

/** Whether a kid is that of a key that has left the ring. */
export async function isArchived(kid: string): Promise<boolean> {
  const item = await readItem(archiveKey(kid), { consistent: true })
  return item !== undefined
}

/** Every archived key; a dozen a year. */
export const readArchive = (): Promise<SigningKey[]> => readRecords(SigningKey, archivePrefix)
