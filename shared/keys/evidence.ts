import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { callS3 } from '../aws/s3.ts'
import { canonicalJson } from '../canonical-json.ts'
import { itemType } from '../db/item-type.ts'
import { Integer, type Key } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { copiesPrefix, keysPartition } from '../aws/signing-key-names.ts'
import { countFailure } from '../faults.ts'
import { errorSummary, log } from '../log.ts'
import { jwksDigest, readKeySet, readRecords, type SigningKeySet, Trigger, writeKeySet } from './set.ts'
import { type KeyTimes, nextDue } from './times.ts'
import type { TransitionResult } from './transition.ts'

/** Result of a sign-and-verify test of a signing key. */
export const KeyCheck = v.object({
  kid: v.string(),
  arn: v.string(),
  signed: v.boolean(),
  verified_by_kms: v.boolean(),
  /** Whether the public key in the JWKS verifies the test signature. */
  verified_by_jwk: v.boolean(),
})
export type KeyCheck = v.InferOutput<typeof KeyCheck>

/** Whether a key passed its test: it signs, and both KMS and the JWKS verify the signature. */
export const isSound = (check: KeyCheck): boolean =>
  check.signed && check.verified_by_kms && check.verified_by_jwk

/** The kinds of key transitions. `bootstrap` activates a deployment's first key. */
const actions = ['bootstrap', 'publish', 'activate', 'retire', 'revoke', 'disable'] as const

/** Evidence: the audit record of a key transition, written in the same transaction and never changed. */
export const Evidence = v.object({
  /** Number of the evidence record: 1, 2, 3, … without a gap. */
  sequence: Integer,
  /** Instant of the transition, epoch milliseconds. */
  at: Integer,
  action: v.picklist(actions),
  trigger: Trigger,
  /** The Lambda invocation that wrote the record. An earlier invocation may have begun the transition. */
  run_id: v.string(),
  old_kid: v.nullable(v.string()),
  old_arn: v.nullable(v.string()),
  new_kid: v.nullable(v.string()),
  new_arn: v.nullable(v.string()),
  /** SHA-256, hex, of the JWKS before and after the transition (`jwksDigest`). */
  jwks_sha256_before: v.string(),
  jwks_sha256_after: v.string(),
  /** Test result of the new key or signer if there is one, else of the signer. Null if there is no key. */
  check: v.nullable(KeyCheck),
  /** For `disable`, the state that KMS showed for the disabled key; null for other actions. */
  kms_state: v.nullable(v.string()),
  /** When the next step of the rotation is due, epoch milliseconds. */
  next_due: Integer,
  /** The `hash` of the previous evidence record; null in the first one. */
  previous_hash: v.nullable(v.string()),
  /** SHA-256, hex, of this record as canonical JSON without `hash` and `signature`. */
  hash: v.string(),
  /** RS256 signature of the JSON that `hash` covers, base64url. Only the evidence key can make it. */
  signature: v.string(),
})
export type Evidence = v.InferOutput<typeof Evidence>

const evidenceType = itemType({
  pk: keysPartition,
  sk: 'EVIDENCE#{sequence}',
  holds: 'the evidence of one transition of a signing key',
  found: 'by its number; all of them in order',
})

/** Prefix of the sort keys of all evidence records. */
export const evidencePrefix = evidenceType.sortKeyPrefix

/** Key of an evidence record. The number has a fixed width, so the sort keys are in numerical order. */
export const evidenceKey = (sequence: number): Key =>
  evidenceType.key({ sequence: String(sequence).padStart(12, '0') })

/** The write that adds an evidence record. */
export const putEvidence = (evidence: Evidence): Write =>
  putNew({ ...evidence, ...evidenceKey(evidence.sequence) })

/** Reads all evidence records, oldest first; a few are added each month. */
export const readEvidence = (): Promise<Evidence[]> => readRecords(Evidence, evidencePrefix)

/** Name of the copy of an evidence record. It contains the hash, so a rewritten record has another name. */
export const copyName = ({ sequence, hash }: Pick<Evidence, 'sequence' | 'hash'>): string =>
  `${copiesPrefix}${evidenceKey(sequence).sk.slice(evidencePrefix.length)}-${hash}`

/**
 * Copies evidence records to the S3 bucket with Object Lock, if there is one; at most twenty in each run.
 * Copies only records that are in the table: a run can sign a record, but fail to store it. Never throws,
 * because a revocation must succeed even if S3 fails.
 */
export async function copyEvidence(): Promise<void> {
  const address = process.env['EVIDENCE_COPIES']
  if (!address) return
  try {
    const keySet = await readKeySet()
    const copied = keySet.copies?.address === address ? keySet.copies.sequence : 0
    if (copied >= keySet.sequence) return
    const records = (await readEvidence()).filter(({ sequence }) => sequence > copied).slice(0, 20)
    for (const record of records) await callS3(new URL(copyName(record), address), canonicalJson(record))
    const sequence = records.at(-1)?.sequence ?? keySet.sequence
    await writeKeySet(keySet, { ...keySet, copies: { address, sequence } })
  } catch (error) {
    log.error('evidence has no copy yet', { cause: errorSummary(error) })
    countFailure(error)
  }
}

/** Computes the hash of an evidence record from its content, to store in `hash` or to compare with it. */
export const evidenceHash = (record: Omit<Evidence, 'hash' | 'signature'>): string =>
  createHash('sha256')
    .update(canonicalJson({ ...record, hash: undefined, signature: undefined }))
    .digest('hex')

/** Builds the unsigned evidence record of a transition of `keySet`, chained to the previous record. */
export function describeTransition(
  keySet: SigningKeySet,
  { keys, old, next }: TransitionResult,
  times: KeyTimes,
  context: Pick<Evidence, 'action' | 'trigger' | 'run_id' | 'check' | 'kms_state'>,
): Omit<Evidence, 'signature'> {
  const isFirst = context.action === 'activate' && keySet.sequence === 0
  const record = {
    ...context,
    sequence: keySet.sequence + 1,
    at: Date.now(),
    action: isFirst ? ('bootstrap' as const) : context.action,
    old_kid: old?.kid ?? null,
    old_arn: old?.arn ?? null,
    new_kid: next?.kid ?? null,
    new_arn: next?.arn ?? null,
    jwks_sha256_before: jwksDigest(keySet.keys),
    jwks_sha256_after: jwksDigest(keys),
    next_due: nextDue({ ...keySet, keys }, times),
    previous_hash: keySet.evidence_hash,
  }
  return { ...record, hash: evidenceHash(record) }
}
