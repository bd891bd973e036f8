import { readEvidence } from '../../../shared/keys/evidence.ts'
import { readKeyState } from '../../../shared/keys/kms.ts'
import { readArchive, readKeySet, type SigningKey } from '../../../shared/keys/set.ts'
import { maxOverdueMilliseconds } from '../audit/checks/rotation.ts'
import { type Finding, judge } from '../doctor/finding.ts'
import { formatInstant } from '../format.ts'

/** The signing keys of a deployment according to its own records; instants are epoch milliseconds. */
export async function readKeyStatus() {
  const [archived, keySet, evidence] = await Promise.all([readArchive(), readKeySet(), readEvidence()])
  const keys = [...archived, ...keySet.keys].sort((a, b) => a.published_at - b.published_at)
  const { attempt } = keySet
  return {
    /** All signing keys, oldest first, retired ones included. */
    keys: keys.map((key) => ({ kid: key.kid, arn: key.arn, state: key.state, ...instantsOf(key) })),
    evidence,
    /** The unfinished attempt to create a key; null if there is none. */
    attempt: attempt && { started_at: attempt.started_at, trigger: attempt.trigger, arn: attempt.arn },
    /** When the next step of the rotation is due; null before the first key exists. */
    next_due: evidence.at(-1)?.next_due ?? null,
  }
}

/**
 * Checks that a key is active, that this key and the evidence key are enabled in KMS, and that no step of the
 * rotation is late. Reading the keys' records also shows that the table answers.
 */
export async function checkKeys(evidenceKeyArn: string): Promise<Finding> {
  const { keys, next_due: due } = await readKeyStatus()
  const signer = keys.find(({ state }) => state === 'active')
  const problems = signer === undefined ? ['no key signs'] : []
  for (const [name, arn] of [
    ['the signing key', signer?.arn],
    ['the evidence key', evidenceKeyArn],
  ] as const) {
    const state = arn && (await readKeyState(arn))
    if (state && state !== 'Enabled') problems.push(`${name} ${arn} cannot sign: it is ${state} in KMS`)
  }
  const next = `next step due ${formatInstant(due)}`
  if (isOverdue(due)) problems.push(next)
  return judge(problems, `${signer?.kid} signs, ${next}`)
}

/** Whether the next step of the rotation is late, or no key was ever created. */
export const isOverdue = (due: number | null, now = Date.now()): boolean =>
  due === null || now - due >= maxOverdueMilliseconds

/** Selects the instants at which a key entered its states. */
export const instantsOf = ({ published_at, active_at, retiring_at, retired_at }: SigningKey) => ({
  published_at,
  active_at,
  retiring_at,
  retired_at,
})
