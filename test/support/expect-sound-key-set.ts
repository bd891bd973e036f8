import { expect } from 'vitest'
import { copyName, evidenceHash, readEvidence } from '../../shared/keys/evidence.ts'
import { readCopies } from '../../infra/ops/audit/read-copies.ts'
import { jwksDigest, readKeySet } from '../../shared/keys/set.ts'
import { listOwnKeys } from './own-keys.ts'

/**
 * Asserts what holds between two runs of the key rotation. One key is active, and no attempt is in progress.
 * The chain of evidence records is unbroken, and every record has a copy. Every key that is not retired is
 * enabled in KMS. Besides these, KMS may have up to `lost` enabled keys, left by runs that died.
 */
export async function expectSoundKeySet({ lost = 0 } = {}): Promise<void> {
  const keySet = await readKeySet()
  expect(keySet.keys.filter(({ state }) => state === 'active')).toHaveLength(1)
  expect(keySet.attempt).toBeNull()

  const evidence = await readEvidence()
  expect(evidence.map(({ sequence }) => sequence)).toEqual(evidence.map((_, index) => index + 1))
  expect(evidence).toHaveLength(keySet.sequence)
  evidence.forEach((record, index) => {
    expect(record.hash).toBe(evidenceHash(record))
    expect(record.previous_hash).toBe(evidence[index - 1]?.hash ?? null)
    expect(record.jwks_sha256_before).toBe(evidence[index - 1]?.jwks_sha256_after ?? jwksDigest([]))
    expect(record.kms_state).toBe(record.action === 'disable' ? 'PendingDeletion' : null)
  })
  expect(evidence.at(-1)?.hash).toBe(keySet.evidence_hash)
  expect(evidence.at(-1)?.jwks_sha256_after).toBe(jwksDigest(keySet.keys))

  expect(await readCopies(process.env['EVIDENCE_COPIES'])).toEqual(evidence.map(copyName))

  const known = keySet.keys.filter(({ state }) => state !== 'retired').map(({ arn }) => arn)
  const enabled = (await listOwnKeys()).filter(({ state }) => state === 'Enabled').map(({ arn }) => arn)
  expect(enabled).toEqual(expect.arrayContaining(known))
  expect(enabled.length).toBeLessThanOrEqual(known.length + lost)
}
