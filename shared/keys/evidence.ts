import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { Integer, type Key } from '../db/table.ts'
import { KeyCheck } from './check-key.ts'
import { keysPartition } from './keys-partition.ts'
import { Trigger } from './key-set.ts'

/** What a transition did; `bootstrap` is the first activation of all. */
const actions = ['bootstrap', 'publish', 'activate', 'retire', 'revoke', 'disable'] as const

/** One transition of the key ring, for an auditor. Written in the same transaction as the transition itself, and never changed. */
export const Evidence = v.object({
  /** 1, 2, 3, … without a gap. */
  sequence: Integer,
  /** The instant, epoch milliseconds. */
  at: Integer,
  action: v.picklist(actions),
  trigger: Trigger,
  /** Lambda's request id of the invocation that carried it out, which after a crash is another than the trigger's. */
  run_id: v.string(),
  old_kid: v.nullable(v.string()),
  old_arn: v.nullable(v.string()),
  new_kid: v.nullable(v.string()),
  new_arn: v.nullable(v.string()),
  /** SHA-256, hex, of the key set before and after (jwks.ts). */
  jwks_sha256_before: v.string(),
  jwks_sha256_after: v.string(),
  /** A signature made and verified just before: by the key that joins or takes over, otherwise by the signer. */
  check: v.nullable(KeyCheck),
  /** What KMS said about the old key after it was disabled; null for the other actions. */
  kms_state: v.nullable(v.string()),
  /** When the clock has something to do next, epoch milliseconds. */
  next_due: Integer,
  /** `hash` of the record before; null in the first one. */
  previous_hash: v.nullable(v.string()),
  /** SHA-256, hex, of this record as canonical JSON without `hash`: a record edited or removed breaks the chain. */
  hash: v.string(),
})
export type Evidence = v.InferOutput<typeof Evidence>

/** Prefix of the sort keys of all evidence. */
export const evidencePrefix = 'EVIDENCE#'

/** Key of a record; its digits sort as its number does. */
export const evidenceKey = (sequence: number): Key => ({
  pk: keysPartition,
  sk: evidencePrefix + String(sequence).padStart(12, '0'),
})

/** Completes a record with its hash. */
export const sealEvidence = (record: Omit<Evidence, 'hash'>): Evidence => ({
  ...record,
  hash: evidenceHash(record),
})

/** The hash that a record must have, whatever it says of it itself. */
export const evidenceHash = (record: Omit<Evidence, 'hash'>): string =>
  createHash('sha256')
    .update(canonicalJson({ ...record, hash: undefined }))
    .digest('hex')
