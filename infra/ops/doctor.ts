import { readJwks } from './audit/read-jwks.ts'
import { countMessages, listQueues, openSqs, totalOf } from './dead-letters/queues.ts'
import { listFunctions } from './functions.ts'
import { readKeyStatus } from './keys/key-status.ts'
import type { Target } from './target.ts'
import { formatInstant } from './terminal.ts'

/** The result of one check of `doctor`. */
export interface CheckResult {
  check: string
  ok: boolean
  /** What the check found, in a few words. */
  words: string
}

/** Maximum delay of a key rotation step before `doctor` reports a failure; the alarm has the same limit. */
const maxOverdueMilliseconds = 3_600_000

/** Checks every part of a deployment. A check that throws only fails itself. */
export const examine = (target: Target): Promise<CheckResult[]> =>
  Promise.all([
    runCheck('API', () => checkApi(target)),
    runCheck('signing keys', checkKeys),
    runCheck('functions', () => checkFunctions(target)),
    runCheck('queues', () => checkQueues(target)),
  ])

async function runCheck(
  check: string,
  perform: () => Promise<Omit<CheckResult, 'check'>>,
): Promise<CheckResult> {
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

async function checkApi({ baseUrl }: Target) {
  if (baseUrl === undefined) return { ok: false, words: 'its address is not known: name it with --base-url' }
  const jwks = await readJwks(baseUrl)
  if (!jwks.answered) return { ok: false, words: jwks.problem }
  return {
    ok: jwks.issuer === baseUrl && jwks.keys.length > 0,
    words: `${baseUrl} answers; issuer ${jwks.issuer}, ${jwks.keys.length} public keys`,
  }
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
  const functions = await listFunctions(target)
  const inactive = functions.filter(({ state }) => state !== 'Active')
  return {
    ok: inactive.length === 0,
    words:
      inactive.length === 0
        ? `all ${functions.length} are active`
        : inactive.map(({ name, state }) => `${name} is ${state}`).join(', '),
  }
}

async function checkQueues(target: Target) {
  const sqs = openSqs()
  try {
    const counts = await Promise.all(
      listQueues(target).map(async ({ name, deadLetters }) => ({
        name,
        count: totalOf(await countMessages(sqs, deadLetters)),
      })),
    )
    const filled = counts.filter(({ count }) => count > 0)
    return {
      ok: filled.length === 0,
      words:
        filled.length === 0
          ? 'no dead letters'
          : `dead letters: ${filled.map(({ name, count }) => `${name} ${count}`).join(', ')}`,
    }
  } finally {
    sqs.destroy()
  }
}
