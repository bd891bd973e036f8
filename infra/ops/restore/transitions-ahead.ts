import * as v from 'valibot'
import type { Item } from '../../../shared/db/table.ts'
import { evidenceKey, evidencePrefix } from '../../../shared/keys/evidence.ts'
import { archivePrefix, emptyKeySet, SigningKeySet, signingKeySetKey } from '../../../shared/keys/set.ts'

/**
 * The evidence and the archived keys of transitions that the key set of a restored table has not made: they
 * would keep it from making the next one. Given all items of the keys' partition. The rotation does not rest
 * on the hour, because an emergency may not wait.
 */
export function transitionsAhead(items: readonly Item[]): Item[] {
  const stored = items.find(({ sk }) => sk === signingKeySetKey.sk)
  const { sequence, keys } = stored === undefined ? emptyKeySet : v.parse(SigningKeySet, stored)
  const last = evidenceKey(sequence).sk
  return items.filter(
    ({ sk }) =>
      (String(sk).startsWith(evidencePrefix) && String(sk) > last) ||
      keys.some(({ kid }) => sk === archivePrefix + kid),
  )
}
