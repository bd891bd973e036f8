import { readKeySet } from '../audit/read-key-set.ts'
import { countMessages, listQueues, openSqs, sumOf } from '../dead-letters/queues.ts'
import { listFunctions } from '../functions/list-functions.ts'
import { readKeyStatus } from '../keys/read-key-status.ts'
import type { Target } from '../target.ts'
import { formatInstant } from '../terminal.ts'

/** One thing that was looked at. */
export interface Examined {
  check: string
  ok: boolean
  /** What was seen, for a person. */
  words: string
}

/** How late the rotation may be before it counts, as in the alarm. */
const patience = 3_600_000

/** Looks at every part of a deployment. A part that does not answer is bad, and does not keep the others from being looked at. */
export const examine = (target: Target): Promise<Examined[]> =>
  Promise.all([
    look('API', () => examineApi(target)),
    look('signing keys', examineKeys),
    look('functions', () => examineFunctions(target)),
    look('queues', () => examineQueues(target)),
  ])

async function look(check: string, see: () => Promise<Omit<Examined, 'check'>>): Promise<Examined> {
  try {
    return { check, ...(await see()) }
  } catch (error) {
    return {
      check,
      ok: false,
      words: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    }
  }
}

async function examineApi({ baseUrl }: Target) {
  if (baseUrl === undefined) return { ok: false, words: 'its address is not known: name it with --base-url' }
  const keySet = await readKeySet(baseUrl)
  if (!keySet.answered) return { ok: false, words: keySet.problem }
  return {
    ok: keySet.issuer === baseUrl && keySet.keys.length > 0,
    words: `${baseUrl} answers; issuer ${keySet.issuer}, ${keySet.keys.length} public keys`,
  }
}

/** Reads the table, too. */
async function examineKeys() {
  const { keys, next_due: due } = await readKeyStatus()
  const signer = keys.find(({ state }) => state === 'active')
  return {
    ok: signer !== undefined && due !== null && Date.now() - due < patience,
    words: `${signer === undefined ? 'no key signs' : `${signer.kid} signs`}, next step due ${formatInstant(due)}`,
  }
}

async function examineFunctions(target: Target) {
  const functions = await listFunctions(target)
  const bad = functions.filter(({ state }) => state !== 'Active')
  return {
    ok: bad.length === 0,
    words:
      bad.length === 0
        ? `${functions.length} are there`
        : bad.map(({ name, state }) => `${name} is ${state}`).join(', '),
  }
}

async function examineQueues(target: Target) {
  const sqs = openSqs()
  try {
    const counts = await Promise.all(
      listQueues(target).map(async ({ name, deadLetters }) => ({
        name,
        count: sumOf(await countMessages(sqs, deadLetters)),
      })),
    )
    const flooded = counts.filter(({ count }) => count > 0)
    return {
      ok: flooded.length === 0,
      words:
        flooded.length === 0
          ? 'no dead letters'
          : `dead letters: ${flooded.map(({ name, count }) => `${name} ${count}`).join(', ')}`,
    }
  } finally {
    sqs.destroy()
  }
}
