import type { Evidence } from '../../../shared/keys/evidence.ts'
import { otherRegion } from '../../../shared/keys/kms.ts'
import { keyIn, type SigningKey } from '../../../shared/keys/set.ts'
import { nextDue } from '../../../shared/keys/times.ts'
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
  /** Every signing key on record, oldest first. */
  keys: ReportKey[]
  /** Length and last record of the evidence chain, with which a later audit compares (`--previous`). */
  evidence: { count: number; head: { sequence: number; hash: string } | null }
  records: Evidence[]
  expected_calls: ExpectedCall[]
}

type RecordedKey = Pick<
  SigningKey,
  'kid' | 'arn' | 'state' | 'published_at' | 'active_at' | 'retiring_at' | 'retired_at' | 'remove_after'
>

/** A signing key on record, with its state in KMS. */
export interface ReportKey extends RecordedKey {
  signs: boolean
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
  /** When KMS showed the effect: seconds after the call, minutes if KMS lagged. */
  at: number
  /** Lambda request id of the run that recorded it; if KMS lagged, an earlier run made the call. */
  run_id: string
  /** What started the rotation run, such as the schedule or an operator. */
  trigger: string
}

/** Checks the collected facts against every control, and returns the report. */
export function audit(facts: Facts): Report {
  const findings = checks.flatMap((check) => [...check(facts)])
  const { at, keySet, archive, evidence, schedule } = facts
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
    keys: [...archive, ...(keySet?.keys ?? [])]
      .map((key) => describeKey(key, facts))
      .sort((a, b) => a.published_at - b.published_at),
    evidence: {
      count: evidence.length,
      head: last === undefined ? null : { sequence: last.sequence, hash: last.hash },
    },
    records: evidence.flatMap(({ record }) => record ?? []),
    expected_calls: evidence.flatMap(({ record }) => (record === undefined ? [] : expectedCalls(record))),
  }
}

function describeKey(key: SigningKey, { at, kms }: Facts): ReportKey {
  const { kid, arn, state, published_at, active_at, retiring_at, retired_at, remove_after } = key
  const inKms = kms.find((one) => one.arn === arn)
  return {
    ...{ kid, arn, state, published_at, active_at, retiring_at, retired_at, remove_after },
    signs: state === 'active',
    age_days: Math.round((at - published_at) / 864_000) / 100,
    kms_state: inKms?.state ?? 'Unknown',
    spec: inKms?.spec ?? null,
    created_at: inKms?.createdAt ?? null,
    deletion_at: inKms?.deletionAt ?? null,
  }
}

/**
 * The DisableKey and ScheduleKeyDeletion calls that the rotation made. Any other such call in CloudTrail is
 * not its own.
 */
const expectedCalls = (record: Evidence): ExpectedCall[] =>
  record.action !== 'disable' || record.kms_state === otherRegion
    ? []
    : [
        {
          call: record.kms_state === 'Disabled' ? 'DisableKey' : 'DisableKey, ScheduleKeyDeletion',
          arn: record.old_arn,
          kid: record.old_kid,
          at: record.at,
          run_id: record.run_id,
          trigger: record.trigger.requested_by ?? record.trigger.kind,
        },
      ]
