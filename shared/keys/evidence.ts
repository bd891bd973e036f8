import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { Integer } from '../db/table.ts'
import { jwksDigest, type SigningKeySet, Trigger } from './key-set.ts'
import { type KeyTimes, nextDue } from './key-times.ts'
import type { KeyTransition, TransitionResult } from './key-transitions.ts'

/** What a sign-and-verify test showed about a key. */
export const KeyCheck = v.object({
  kid: v.string(),
  arn: v.string(),
  /** Whether KMS signed. */
  signed: v.boolean(),
  /** Whether KMS verifies that signature. */
  verified_by_kms: v.boolean(),
  /** Whether the public key in the JWKS verifies that signature. */
  verified_by_jwk: v.boolean(),
})
export type KeyCheck = v.InferOutput<typeof KeyCheck>

/** Whether the key signs, and both KMS and the JWKS verify what it signs. */
export const isSound = (check: KeyCheck): boolean =>
  check.signed && check.verified_by_kms && check.verified_by_jwk

/** What a transition did; `bootstrap` is the first activation of a deployment. */
const actions = ['bootstrap', 'publish', 'activate', 'retire', 'revoke', 'disable'] as const

/**
 * The audit record of one transition of the key set. It is written in the same transaction as the transition,
 * and never changed.
 */
export const Evidence = v.object({
  /** 1, 2, 3, … without a gap. */
  sequence: Integer,
  /** The instant, epoch milliseconds. */
  at: Integer,
  action: v.picklist(actions),
  trigger: Trigger,
  /** Lambda's request id of the invocation that wrote it; after a crash it is not the one of the trigger. */
  run_id: v.string(),
  old_kid: v.nullable(v.string()),
  old_arn: v.nullable(v.string()),
  new_kid: v.nullable(v.string()),
  new_arn: v.nullable(v.string()),
  /** SHA-256, hex, of the JWKS before and after (`jwksDigest`). */
  jwks_sha256_before: v.string(),
  jwks_sha256_after: v.string(),
  /** Test, made just before, of the key that joins or takes over, otherwise of the signer. */
  check: v.nullable(KeyCheck),
  /** State of the old key in KMS after it was disabled; null for the other actions. */
  kms_state: v.nullable(v.string()),
  /** When the clock has something to do next, epoch milliseconds. */
  next_due: Integer,
  /** `hash` of the record before; null in the first one. */
  previous_hash: v.nullable(v.string()),
  /** SHA-256, hex, of this record as canonical JSON without `hash`: an edited record breaks the chain. */
  hash: v.string(),
})
export type Evidence = v.InferOutput<typeof Evidence>

/** The hash that a record must have, computed from its content. */
export const evidenceHash = (record: Omit<Evidence, 'hash'>): string =>
  createHash('sha256')
    .update(canonicalJson({ ...record, hash: undefined }))
    .digest('hex')

/** What a transition is recorded with, beside its result. */
export interface TransitionContext {
  action: KeyTransition['action']
  trigger: Trigger
  /** Lambda's request id. */
  runId: string
  times: KeyTimes
  check: KeyCheck | null
  /** State in KMS of a key that was disabled. */
  kmsState: string | null
}

/** The evidence record of a transition of `keySet`, chained to the record before. */
export function describeTransition(
  keySet: SigningKeySet,
  { keys, old, next }: TransitionResult,
  context: TransitionContext,
): Evidence {
  const { action } = context
  const record = {
    sequence: keySet.sequence + 1,
    at: Date.now(),
    action: action === 'activate' && keySet.sequence === 0 ? ('bootstrap' as const) : action,
    trigger: context.trigger,
    run_id: context.runId,
    old_kid: old?.kid ?? null,
    old_arn: old?.arn ?? null,
    new_kid: next?.kid ?? null,
    new_arn: next?.arn ?? null,
    jwks_sha256_before: jwksDigest(keySet.keys),
    jwks_sha256_after: jwksDigest(keys),
    check: context.check,
    kms_state: context.kmsState,
    next_due: nextDue({ ...keySet, keys }, context.times),
    previous_hash: keySet.evidence_hash,
  }
  return { ...record, hash: evidenceHash(record) }
}
