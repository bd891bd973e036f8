import { log } from '../log.ts'
import { applyTransition, type KeyTransition, type TransitionResult, type KeyTimes } from './apply-change.ts'
import { archive } from './archive.ts'
import { checkKey, isSound, type KeyCheck } from './check-key.ts'
import { type Evidence, evidenceKey, sealEvidence } from './evidence.ts'
import { jwksDigest } from './jwks.ts'
import { nextDue } from './next-due.ts'
import { keyIn, type SigningKeySet, type Trigger } from './key-set.ts'
import { writeKeySet } from './write-ring.ts'

/** What a transition is written with, beside itself. */
export interface TransitionContext {
  trigger: Trigger
  runId: string
  times: KeyTimes
  /** Whether this change finishes the attempt that the ring holds. */
  finishesAttempt?: boolean
  /** What KMS said about a key that it has disabled. */
  kmsState?: string
}

/**
 * Makes one transition: checks the keys, then writes the ring and the evidence in one transaction. Resolves with the
 * evidence, or undefined where another run was faster and nothing was written. A key that is to be published or to sign must
 * pass its check, or this throws.
 */
export async function writeTransition(
  ring: SigningKeySet,
  change: KeyTransition,
  circumstances: TransitionContext,
): Promise<Evidence | undefined> {
  const { times } = circumstances
  const planned = applyTransition(ring.keys, change, times, Date.now())
  const check = await checkFor(planned)
  // The checks take their time, and what the ring says of instants must be true when it is written.
  const changed = applyTransition(ring.keys, change, times, Date.now())
  const attempt = circumstances.finishesAttempt ? null : ring.attempt
  const evidence = describe(ring, changed, change, { ...circumstances, check, attempt })
  const next = {
    ...ring,
    keys: changed.keys,
    attempt,
    sequence: evidence.sequence,
    evidence_hash: evidence.hash,
  }
  const written = await writeKeySet(ring, next, [
    {
      Put: {
        Item: { ...evidence, ...evidenceKey(evidence.sequence) },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    ...(change.action === 'disable' && changed.old !== undefined ? [archive(changed.old)] : []),
  ])
  if (!written) return undefined
  log.info('signing keys changed', {
    action: evidence.action,
    old_kid: evidence.old_kid,
    new_kid: evidence.new_kid,
    trigger: evidence.trigger.kind,
  })
  return evidence
}

async function checkFor({ keys, next }: TransitionResult): Promise<KeyCheck | null> {
  const subject = next ?? keyIn(keys, 'active')
  const check = subject === undefined ? null : await checkKey(subject)
  if (next !== undefined && (check === null || !isSound(check))) {
    throw new Error(`the signing key ${next.kid} failed its check and was left as it is`)
  }
  return check
}

function describe(
  ring: SigningKeySet,
  { keys, old, next }: TransitionResult,
  change: KeyTransition,
  circumstances: TransitionContext & { check: KeyCheck | null; attempt: SigningKeySet['attempt'] },
): Evidence {
  const { trigger, runId, times, check, attempt, kmsState = null } = circumstances
  return sealEvidence({
    sequence: ring.sequence + 1,
    at: Date.now(),
    action: change.action === 'activate' && ring.sequence === 0 ? 'bootstrap' : change.action,
    trigger,
    run_id: runId,
    old_kid: old?.kid ?? null,
    old_arn: old?.arn ?? null,
    new_kid: next?.kid ?? null,
    new_arn: next?.arn ?? null,
    jwks_sha256_before: jwksDigest(ring.keys),
    jwks_sha256_after: jwksDigest(keys),
    check,
    kms_state: kmsState,
    next_due: nextDue({ keys, attempt }, times),
    previous_hash: ring.evidence_hash,
  })
}
