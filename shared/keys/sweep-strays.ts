import { disposeKey } from './dispose-key.ts'
import { findKeys } from './find-keys.ts'
import type { SigningKeySet } from './key-set.ts'
import { writeKeySet } from './write-ring.ts'

/** For how long after an attempt was given up its key may still turn up: far longer than any call or listing of KMS takes. */
const graceMilliseconds = 15 * 60_000

/** Days until KMS deletes a key that was never public and never signed a token; KMS allows no fewer. */
export const unusedDeletionDays = 7

/**
 * Disables the keys of attempts that were given up, and has KMS delete them. Such a key can never get into the ring:
 * only the attempt that the ring holds can bring one in.
 */
export async function sweepOrphanedKeys(ring: SigningKeySet): Promise<void> {
  if (ring.strays.length === 0) return
  const now = Date.now()
  const found = await findKeys(ring.strays.map(({ id }) => id))
  for (const arn of [...found.values()].flat()) await disposeKey(arn, unusedDeletionDays)
  const strays = ring.strays.filter(({ started_at }) => now - started_at < graceMilliseconds)
  // Where another run was faster, the next one tidies.
  if (strays.length < ring.strays.length) await writeKeySet(ring, { ...ring, strays }, [])
}
