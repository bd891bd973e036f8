import { keyIn } from '../../../shared/keys/set.ts'
import { nextDue } from '../../../shared/keys/times.ts'
import { checkCopies, checkEvidenceChain, checkProofs } from './checks/evidence.ts'
import { checkJwks } from './checks/jwks.ts'
import { checkKeyStates } from './checks/key-states.ts'
import { checkEvidenceKey, checkKms } from './checks/kms.ts'
import { checkCryptoperiod, checkSchedule, checkTrail } from './checks/rotation.ts'
import { type Check, type Control, controls } from './controls.ts'
import type { Facts } from './facts.ts'

const checks: Check[] = [
  checkEvidenceKey,
  checkEvidenceChain,
  checkCopies,
  checkKeyStates,
  checkKms,
  checkJwks,
  checkSchedule,
  checkTrail,
  checkCryptoperiod,
  checkProofs,
]

/** The report of a key audit; instants are epoch milliseconds. */
export type Report = ReturnType<typeof audit>

/** Runs every check of the audit on the collected facts, and returns the report. */
export function audit(facts: Facts) {
  const findings = checks.flatMap((check) => [...check(facts)])
  const { at, keySet, archive, evidence, schedule, trail, kms, copies, evidenceKey } = facts
  const last = evidence.at(-1)?.record
  return {
    at,
    ok: findings.length === 0,
    findings,
    controls: Object.entries(controls).map(([control, { title, asks }]) => ({
      control,
      title,
      asks,
      holds: !findings.some((finding) => finding.controls.includes(control as Control)),
    })),
    /** kid of the key that signs tokens now. */
    signer: keyIn(keySet?.keys ?? [], 'active')?.kid ?? null,
    next_due: keySet === undefined ? null : nextDue(keySet, facts.settings),
    schedule,
    trail,
    /** Every recorded signing key, oldest first, each with the metadata that KMS has about it. */
    keys: [...archive, ...(keySet?.keys ?? [])]
      .map((key) => ({ ...key, kms: kms.find(({ arn }) => arn === key.arn) ?? null }))
      .sort((a, b) => a.published_at - b.published_at),
    /** The evidence chain: its key, its length, and its last record, for comparison with a later audit. */
    evidence: {
      key: { arn: evidenceKey.arn, state: evidenceKey.state, public_key: evidenceKey.publicKey },
      count: evidence.length,
      copies: copies?.length,
      head: last === undefined ? null : { sequence: last.sequence, hash: last.hash },
    },
    records: evidence.flatMap(({ record }) => record ?? []),
  }
}
