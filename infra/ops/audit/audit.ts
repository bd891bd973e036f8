import type { Evidence } from '../../../shared/keys/evidence.ts'
import { keyIn, type KeyState } from '../../../shared/keys/set.ts'
import { nextDue } from '../../../shared/keys/times.ts'
import { otherRegion } from '../../../shared/keys/kms.ts'
import { checkEvidenceChain, checkProofs } from './checks/evidence.ts'
import { checkJwks } from './checks/jwks.ts'
import { checkKeyStates } from './checks/key-states.ts'
import { checkKms } from './checks/kms.ts'
import { checkCryptoperiod, checkSchedule } from './checks/rotation.ts'
import { type Check, type Control, controls, type Finding } from './controls.ts'
import type { Facts } from './facts.ts'

const checks: Check[] = [
  checkEvidenceChain,
  checkKeyStates,
  checkKms,
  checkJwks,
  checkSchedule,
  checkCryptoperiod,
  checkProofs,
]

/** The report of a key audit. */
export interface Report {
  /** When the audit was made, epoch milliseconds. */
  at: number
  /** True if the audit has no findings. */
  ok: boolean
  findings: Finding[]
  controls: { control: Control; title: string; asks: string; holds: boolean }[]
  /** kid of the key that signs tokens now. */
  signer: string | null
  next_due: number | null
  schedule: Facts['schedule']
  keys: ReportKey[]
  /** Length and last record of the evidence chain, with which a later audit compares (`--previous`). */
  evidence: { count: number; head: { sequence: number; hash: string } | null }
  records: Evidence[]
  expected_calls: ExpectedCall[]
}

/** A signing key on record, with its state in KMS; instants are epoch milliseconds. */
export interface ReportKey {
  kid: string
  arn: string
  state: KeyState
  signs: boolean
  published_at: number
  active_at: number | null
  retiring_at: number | null
  retired_at: number | null
  /** When a retiring key may be removed from the JWKS. */
  remove_after: number | null
  /** Days since the key was published. */
  age_days: number
  /** State of the key in KMS, such as `Enabled`. */
  kms_state: string
  spec: string | null
  created_at: number | null
  deletion_at: number | null
}

/** A KMS call of the rotation that CloudTrail should contain according to the evidence. */
export interface ExpectedCall {
  call: 'DisableKey' | 'DisableKey, ScheduleKeyDeletion'
  arn: string | null
  kid: string | null
  /** When KMS showed the effect, epoch milliseconds: seconds after the call, minutes if KMS lagged. */
  at: number
  /** Lambda request id of the run that recorded it; if KMS lagged, an earlier run made the call. */
  run_id: string
  /** What started the rotation run, such as the schedule or an operator. */
  trigger: string
}

/** Checks the collected facts against every control, and returns the report. */
export function audit(facts: Facts): Report {
  const findings = checks.flatMap((check) => [...check(facts)])
  const { keySet, evidence } = facts
  const last = evidence.at(-1)?.record
  return {
    at: facts.at,
    ok: findings.length === 0,
    findings,
    controls: Object.entries(controls).map(([control, { title, asks }]) => ({
      control: control as Control,
      title,
      asks,
      holds: !findings.some((finding) => finding.controls.includes(control as Control)),
    })),
    signer: keyIn(keySet?.keys ?? [], 'active')?.kid ?? null,
    next_due: keySet === undefined ? null : nextDue(keySet, facts.settings),
    schedule: facts.schedule,
    keys: describeKeys(facts),
    evidence: {
      count: evidence.length,
      head: last === undefined ? null : { sequence: last.sequence, hash: last.hash },
    },
    records: evidence.flatMap(({ record }) => record ?? []),
    expected_calls: expectedCalls(facts),
  }
}

/** Describes every signing key on record, oldest first. */
const describeKeys = ({ at, keySet, archive, kms }: Facts): ReportKey[] =>
  [...archive, ...(keySet?.keys ?? [])]
    .map((key) => {
      const inKms = kms.find(({ arn }) => arn === key.arn)
      return {
        kid: key.kid,
        arn: key.arn,
        state: key.state,
        signs: key.state === 'active',
        published_at: key.published_at,
        active_at: key.active_at,
        retiring_at: key.retiring_at,
        retired_at: key.retired_at,
        remove_after: key.remove_after,
        age_days: Math.round((at - key.published_at) / 864_000) / 100,
        kms_state: inKms?.state ?? 'Unknown',
        spec: inKms?.spec ?? null,
        created_at: inKms?.createdAt ?? null,
        deletion_at: inKms?.deletionAt ?? null,
      }
    })
    .sort((a, b) => a.published_at - b.published_at)

/**
 * The DisableKey and ScheduleKeyDeletion calls that the rotation made. Any other such call in CloudTrail is
 * not its own.
 */
const expectedCalls = ({ evidence }: Facts): ExpectedCall[] =>
  evidence.flatMap(({ record }) =>
    record?.action === 'disable' && record.kms_state !== otherRegion
      ? [
          {
            call: record.kms_state === 'Disabled' ? 'DisableKey' : 'DisableKey, ScheduleKeyDeletion',
            arn: record.old_arn,
            kid: record.old_kid,
            at: record.at,
            run_id: record.run_id,
            trigger: record.trigger.requested_by ?? record.trigger.kind,
          },
        ]
      : [],
  )
