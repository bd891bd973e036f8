import type { Evidence } from '../../../shared/keys/evidence.ts'
import { keyIn } from '../../../shared/keys/key-set.ts'
import { nextDue } from '../../../shared/keys/key-times.ts'
import { checkChain } from './checks/chain.ts'
import { checkCryptoperiod } from './checks/cryptoperiod.ts'
import { checkKeySet } from './checks/key-set.ts'
import { checkKms } from './checks/kms.ts'
import { checkProofs } from './checks/proofs.ts'
import { checkSchedule } from './checks/schedule.ts'
import { checkStates } from './checks/states.ts'
import { type Check, type Control, controls, type Finding } from './controls.ts'
import type { Facts } from './facts.ts'
import { describeKeys, type ReportKey } from './describe-keys.ts'
import { listExpectedCalls, type ExpectedCall } from './expected-calls.ts'

const checks: Check[] = [
  checkChain,
  checkStates,
  checkKms,
  checkKeySet,
  checkSchedule,
  checkCryptoperiod,
  checkProofs,
]

/** What an audit has found out. */
export interface Report {
  /** Epoch milliseconds. */
  at: number
  /** Whether nothing was found. */
  ok: boolean
  findings: Finding[]
  controls: { control: Control; title: string; asks: string; holds: boolean }[]
  /** kid of the key that signs now. */
  signer: string | null
  next_due: number | null
  schedule: Facts['schedule']
  keys: ReportKey[]
  /** How far the chain reaches; what a later audit holds it to (`--previous`). */
  evidence: { count: number; head: { sequence: number; hash: string } | null }
  records: Evidence[]
  expected_calls: ExpectedCall[]
}

/** Judges the facts by every control. */
export function audit(facts: Facts): Report {
  const findings = checks.flatMap((check) => check(facts))
  const { ring, evidence } = facts
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
    signer: keyIn(ring?.keys ?? [], 'active')?.kid ?? null,
    next_due: ring === undefined ? null : nextDue(ring, facts.settings),
    schedule: facts.schedule,
    keys: describeKeys(facts),
    evidence: {
      count: evidence.length,
      head: last === undefined ? null : { sequence: last.sequence, hash: last.hash },
    },
    records: evidence.flatMap(({ record }) => record ?? []),
    expected_calls: listExpectedCalls(facts),
  }
}
