import { type Evidence, readEvidence } from '../../../shared/keys/evidence.ts'
import { readArchive, readKeySet } from '../../../shared/keys/set.ts'

/** The signing keys of a deployment according to its own records; instants are epoch milliseconds. */
export async function readKeyStatus() {
  const [archived, keySet, evidence] = await Promise.all([readArchive(), readKeySet(), readEvidence()])
  const keys = [...archived, ...keySet.keys].sort((a, b) => a.published_at - b.published_at)
  const { attempt } = keySet
  return {
    /** All signing keys, oldest first, retired ones included. */
    keys: keys.map(({ kid, arn, state, published_at, active_at, retiring_at, retired_at }) => ({
      kid,
      arn,
      state,
      published_at,
      active_at,
      retiring_at,
      retired_at,
    })),
    evidence,
    /** The unfinished attempt to create a key, perhaps delayed by KMS; null if there is none. */
    attempt: attempt && { started_at: attempt.started_at, trigger: attempt.trigger, arn: attempt.arn },
    /** When the next step of the rotation is due; null before the first key exists. */
    next_due: evidence.at(-1)?.next_due ?? null,
  }
}

/** Selects the members of evidence records that the text output shows. */
export const summarizeEvidence = (records: readonly Evidence[]): object[] =>
  records.map(({ sequence, at, action, trigger, old_kid, new_kid, run_id }) => ({
    sequence,
    at,
    action,
    by: trigger.requested_by ?? trigger.kind,
    old_kid,
    new_kid,
    run_id,
  }))
