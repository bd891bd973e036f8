import { expect } from 'vitest'
import { evidenceHash } from '../../shared/keys/evidence.ts'
import { jwksDigest } from '../../shared/keys/jwks.ts'
import { readEvidence } from '../../shared/keys/read-evidence.ts'
import { readKeySet } from '../../shared/keys/key-set.ts'
import { listOwnKeys } from './own-keys.ts'

/**
 * Holds everything that must be true between two runs: one signer; a key set that lacks none of its keys and that the
 * evidence agrees with; an unbroken chain of evidence; and no enabled key in KMS that the ring does not know.
 */
export async function ringMustBeWhole(): Promise<void> {
  const ring = await readKeySet()
  expect(ring.keys.filter(({ state }) => state === 'active')).toHaveLength(1)
  expect(ring.attempt).toBeNull()

  const evidence = await readEvidence()
  expect(evidence.map(({ sequence }) => sequence)).toEqual(evidence.map((_, index) => index + 1))
  expect(evidence).toHaveLength(ring.sequence)
  evidence.forEach((record, index) => {
    expect(record.hash).toBe(evidenceHash(record))
    expect(record.previous_hash).toBe(evidence[index - 1]?.hash ?? null)
    expect(record.jwks_sha256_before).toBe(evidence[index - 1]?.jwks_sha256_after ?? jwksDigest([]))
  })
  expect(evidence.at(-1)?.hash).toBe(ring.evidence_hash)
  expect(evidence.at(-1)?.jwks_sha256_after).toBe(jwksDigest(ring.keys))

  const known = ring.keys.filter(({ state }) => state !== 'retired').map(({ arn }) => arn)
  const enabled = (await listOwnKeys()).filter(({ state }) => state === 'Enabled').map(({ arn }) => arn)
  expect(enabled.sort()).toEqual(known.sort())
}
