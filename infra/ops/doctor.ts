import { checkTrails } from './check-trails.ts'
import { listQueueCounts } from './dead-letters/queues.ts'
import { checkConcurrency } from './doctor/concurrency.ts'
import { type Finding, judge } from './doctor/finding.ts'
import { checkApi, checkChallenge, checkEdge, checkPage, checkPasswordDigest } from './doctor/http.ts'
import { checkMail } from './doctor/mail.ts'
import { checkStandby } from './doctor/standby.ts'
import { checkKeys } from './keys/key-status.ts'
import { readRotationEnvironment } from './keys/rotation-environment.ts'
import type { ShowProgress } from './progress.ts'
import { formatMaintenance, readMaintenance } from './maintenance/switch.ts'
import type { Target } from './target.ts'

/** Checks every part of a deployment. A check that throws counts as failed, and the others still run. */
export async function examine(
  target: Target,
  showProgress: ShowProgress,
): Promise<({ check: string } & Finding)[]> {
  const { baseUrl, authUrl, hasEdge, namePrefix, standbyRegion, settings, tableName } = target
  const { concurrentExecutions: wanted } = target
  const checks: Record<string, (() => Promise<Finding>) | false | undefined> = {
    maintenance: () => checkMaintenance(target),
    ...(baseUrl === undefined
      ? { API: () => Promise.reject(new Error('its address is not known: name it with --base-url')) }
      : {
          API: () => checkApi(baseUrl),
          challenge: () => checkChallenge(baseUrl),
          page: () => checkPage(baseUrl, authUrl),
          edge: hasEdge && (() => checkEdge(baseUrl, namePrefix)),
          'password digest': () => checkPasswordDigest(baseUrl),
        }),
    'signing keys': async () =>
      checkKeys((await readRotationEnvironment(namePrefix)).EVIDENCE_KEY_ID ?? 'missing'),
    trail: () => checkTrails(target),
    queues: () => checkQueues(target),
    concurrency: wanted !== undefined && (() => checkConcurrency(wanted)),
    mail: () => checkMail(settings.mailFrom),
    standby: standbyRegion !== undefined && (() => checkStandby(tableName, standbyRegion, settings.mailFrom)),
  }
  const chosen = Object.entries(checks).flatMap(([check, perform]) => (perform ? [{ check, perform }] : []))
  let done = 0
  return Promise.all(
    chosen.map(async ({ check, perform }) => {
      const finding = await runCheck(check, perform)
      showProgress((done += 1), chosen.length)
      return finding
    }),
  )
}

async function runCheck(check: string, perform: () => Promise<Finding>) {
  try {
    return { check, ...(await perform()) }
  } catch (error) {
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return { check, ok: false, words }
  }
}

async function checkMaintenance(target: Target): Promise<Finding> {
  const states = await readMaintenance(target)
  const ok = Object.values(states).every((state) => state === 'running')
  return { ok, words: ok ? 'the service is switched on' : formatMaintenance(states) }
}

async function checkQueues(target: Target): Promise<Finding> {
  const filled = (await listQueueCounts(target)).filter(({ dead_letters: count }) => count > 0)
  return judge(
    filled.map(({ name, dead_letters: count }) => `dead letters: ${name} ${count}`),
    'no dead letters',
  )
}
