import { putVersioned, tryTransact, type Write } from '../db/write.ts'
import { type SigningKeySet, signingKeySetKey } from './key-set.ts'

/**
 * How long the write may take, retries included: with the clocks' differences it stays within `commitSlackMilliseconds`, on which the
 * instants inside the ring rely.
 */
const maxWriteMilliseconds = 2_000

/**
 * Writes a ring in place of the one that was read, and what goes with it, in one transaction; false, with nothing
 * written, where the ring has changed since it was read.
 */
export async function writeKeySet(
  read: SigningKeySet,
  next: Omit<SigningKeySet, 'version'>,
  beside: Write[],
): Promise<boolean> {
  const keySet = putVersioned({ ...next, version: read.version + 1, ...signingKeySetKey }, read.version)
  const failures = await tryTransact([keySet, ...beside], {
    abortSignal: AbortSignal.timeout(maxWriteMilliseconds),
  })
  return failures.length === 0
}
