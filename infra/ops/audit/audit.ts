import type { Evidence } from '../../../shared/keys/evidence.ts'
import { keyIn, type SigningKey } from '../../../shared/keys/set.ts'
import { nextDue } from '../../../shared/keys/times.ts'
import { summarizeEvidence } from '../keys/key-status.ts'
import { checkCopies, checkEvidenceChain, checkProofs } from './checks/evidence.ts'
import { checkJwks } from './checks/jwks.ts'
import { checkKeyStates } from './checks/key-states.ts'
import { checkKms } from './checks/kms.ts'
import { checkCryptoperiod, checkSchedule, checkTrail } from './checks/rotation.ts'
import { type Check, type Control, controls, type Finding } from './controls.ts'
import type { Facts, KmsKey } from './facts.ts'

const checks: Check[] = [
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
export interface Report {
  at: number
  /** True if the audit has no findings. */
  ok: boolean
  findings: Finding[]
  controls: { control: string; title: string; asks: string; holds: boolean }[]
  /** kid of the key that signs tokens now. */
  signer: string | null
  next_due: number | null
  schedule: Facts['schedule']
  trail: Facts['trail']
  /** Every signing key on record, oldest first, each with its facts in KMS. */
  keys: (SigningKey & { kms: KmsKey | null })[]
  /** Length and last record of the evidence chain, for a later audit to compare with (`--previous`). */
  evidence: { count: number; copies?: number | undefined; head: { sequence: number; hash: string } | null }
  records: Evidence[]
}

/** Checks the collected facts against every control, and returns the report. */
export function audit(facts: Facts): Report {
  const findings = checks.flatMap((check) => [...check(facts)])
  const { at, keySet, archive, evidence, schedule, trail, kms, copies } = facts
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
    signer: keyIn(keySet?.keys ?? [], 'active')?.kid ?? null,
    next_due: keySet === undefined ? null : nextDue(keySet, facts.settings),
    schedule,
    trail,
    keys: [...archive, ...(keySet?.keys ?? [])]
      .map((key) => ({ ...key, kms: kms.find(({ arn }) => arn === key.arn) ?? null }))
      .sort((a, b) => a.published_at - b.published_at),
    evidence: {
      count: evidence.length,
      copies: copies?.length,
      head: last === undefined ? null : { sequence: last.sequence, hash: last.hash },
    },
    records: evidence.flatMap(({ record }) => record ?? []),
  }
}

/** The report for people: one table each for the findings, keys, controls and transitions. */
export const summarize = ({ findings, keys, controls, records, ...report }: Report): object => ({
  ok: report.ok,
  signer: report.signer,
  next_due: report.next_due,
  trail: report.trail.words,
  findings: findings.map(({ finding, subject, message }) => ({ finding, subject, message })),
  keys: keys.map(({ kid, state, kms, published_at, active_at, retiring_at, retired_at }) => ({
    kid,
    state,
    in_kms: kms?.state,
    deletion_at: kms?.deletionAt,
    published_at,
    active_at,
    retiring_at,
    retired_at,
  })),
  controls: controls.map(({ title, holds }) => ({ holds, control: title })),
  evidence: summarizeEvidence(records),
})
