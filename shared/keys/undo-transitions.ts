import * as v from 'valibot'
import type { Item } from '../db/table.ts'
import type { Change } from '../db/write.ts'
import { evidenceKey, evidencePrefix } from './evidence.ts'
import { archivePrefix, emptyKeySet, SigningKeySet, signingKeySetKey } from './set.ts'

/**
 * The changes that remove the evidence and the archived keys of transitions that the key set, in a restored
 * table, has not made: they would keep it from making the next one. Given all items of the keys' partition.
 */
export function undoTransitions(items: readonly Item[]): Change[] {
  const stored = items.find(({ sk }) => sk === signingKeySetKey.sk)
  const { sequence, keys } = stored === undefined ? emptyKeySet : v.parse(SigningKeySet, stored)
  const last = evidenceKey(sequence).sk
  const isAhead = ({ sk }: Item) =>
    (String(sk).startsWith(evidencePrefix) && String(sk) > last) ||
    keys.some(({ kid }) => sk === archivePrefix + kid)
  return items.filter(isAhead).map((before) => ({ before, after: undefined }))
}
