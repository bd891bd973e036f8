import { listQueueCounts } from './dead-letters/queues.ts'
import { checkApi, checkChallenge } from './doctor/api.ts'
import { checkEdge } from './doctor/edge.ts'
import { type Finding, judge } from './doctor/finding.ts'
import { checkMail } from './doctor/mail.ts'
import { checkPasswordDigest } from './doctor/password-digest.ts'
import { checkRules } from './doctor/rules.ts'
import { checkStandby } from './doctor/standby.ts'
import { findInactive } from './functions.ts'
import { readKeyStatus } from './keys/key-status.ts'
import { formatMaintenance, readMaintenance } from './maintenance/switch.ts'
import type { Target } from './target.ts'
import { formatInstant } from './terminal.ts'

/** The result of one check of `doctor`. */
export interface CheckResult extends Finding {
  check: string
}

/** Maximum delay of a key rotation step before `doctor` reports a failure; the alarm has the same limit. */
const maxOverdueMilliseconds = 3_600_000

/** Checks every part of a deployment. A check that throws only fails itself. */
export function examine(target: Target): Promise<CheckResult[]> {
  const { standbyRegion, settings, tableName } = target
  return Promise.all([
    runCheck('maintenance', () => checkMaintenance(target)),
    runCheck('API', () => checkApi(target.baseUrl)),
    runCheck('challenge', () => checkChallenge(target.baseUrl)),
    ...(target.hasEdge ? [runCheck('edge', () => checkEdge(target))] : []),
    runCheck('password digest', () => checkPasswordDigest(target.baseUrl)),
    runCheck('signing keys', checkKeys),
    runCheck('functions', () => checkFunctions(target)),
    runCheck('rules', () => checkRules(target)),
    runCheck('queues', () => checkQueues(target)),
    runCheck('mail', () => checkMail(settings.mailFrom)),
    ...(standbyRegion
      ? [runCheck('standby', () => checkStandby(tableName, standbyRegion, settings.mailFrom))]
      : []),
  ])
}

async function runCheck(check: string, perform: () => Promise<Finding>): Promise<CheckResult> {
  try {
    return { check, ...(await perform()) }
  } catch (error) {
    return {
      check,
      ok: false,
      words: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    }
  }
}

async function checkMaintenance(target: Target): Promise<Finding> {
  const states = await readMaintenance(target)
  const ok = Object.values(states).every((state) => state === 'running')
  return { ok, words: ok ? 'the service is switched on' : formatMaintenance(states) }
}

/** Checks the signing keys. Reading their records also shows that the table answers. */
async function checkKeys() {
  const { keys, next_due: due } = await readKeyStatus()
  const signer = keys.find(({ state }) => state === 'active')
  return {
    ok: signer !== undefined && due !== null && Date.now() - due < maxOverdueMilliseconds,
    words: `${signer === undefined ? 'no key signs' : `${signer.kid} signs`}, next step due ${formatInstant(due)}`,
  }
}

async function checkFunctions(target: Target) {
  const { all, inactive } = await findInactive(target)
  return judge(
    inactive.map(({ name, state }) => `${name} is ${state}`),
    `all ${all} are active`,
  )
}

async function checkQueues(target: Target) {
  const filled = (await listQueueCounts(target)).filter(({ dead_letters: count }) => count > 0)
  return judge(
    filled.map(({ name, dead_letters: count }) => `dead letters: ${name} ${count}`),
    'no dead letters',
  )
}
