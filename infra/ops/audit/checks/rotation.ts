import type { SigningKey } from '../../../../shared/keys/set.ts'
import { nextDue } from '../../../../shared/keys/times.ts'
import { formatDuration, formatInstant } from '../../terminal.ts'
import { type Check, type Finding, found } from '../controls.ts'
import type { Facts } from '../facts.ts'

const hourMilliseconds = 3_600_000
const dayMilliseconds = 24 * hourMilliseconds

/** Maximum delay of a rotation step for the audit; the alarm `rotation-overdue` has the same limit. */
export const maxOverdueMilliseconds = hourMilliseconds

/**
 * Maximum period of a private signature key in days: three years (NIST SP 800-57 Part 1 Rev. 5, 5.3.6, table
 * 1).
 */
const maxPeriodDays = 3 * 365

/**
 * Checks that keys are replaced in time: no rotation step is overdue, and no key signs or stays in the JWKS
 * for too long.
 */
export const checkCryptoperiod: Check = function* (facts) {
  const { settings } = facts
  if (settings.signingKeyRotationDays > maxPeriodDays) {
    const message = `The configured period of a signing key is ${settings.signingKeyRotationDays} days.`
    yield found('period_too_long', 'configuration', message)
  }
  yield* checkOverdue(facts)
  for (const key of facts.keySet?.keys ?? []) {
    yield* checkActiveKey(key, facts)
    yield* checkRetiringKey(key, facts)
  }
}

function* checkOverdue({ at, keySet, settings }: Facts): Generator<Finding> {
  if (keySet === undefined || keySet.keys.length === 0) return
  const due = nextDue(keySet, settings)
  if (at - due <= maxOverdueMilliseconds) return
  yield found(
    'rotation_overdue',
    'rotation',
    `A step of the rotation was due at ${formatInstant(due)} and is overdue by ${formatDuration(at - due)}.`,
  )
}

function* checkActiveKey(key: SigningKey, { at, settings }: Facts): Generator<Finding> {
  if (key.state !== 'active' || key.active_at === null) return
  const period = settings.signingKeyRotationDays * dayMilliseconds
  // Add the time for which a new key is published before it signs: if the configured period is shortened, the
  // successor of the active key still needs that time.
  const maxAge = period + settings.signingKeyPublishSeconds * 1000 + maxOverdueMilliseconds
  const age = at - key.active_at
  if (age <= maxAge) return
  const message = `The key has signed for ${formatDuration(age)}; its period is ${formatDuration(period)}.`
  yield found('cryptoperiod_exceeded', key.kid, message)
}

function* checkRetiringKey(key: SigningKey, { at }: Facts): Generator<Finding> {
  const due = key.remove_after
  if (key.state !== 'retiring' || due === null || at - due <= maxOverdueMilliseconds) return
  const message = `The key should have left the JWKS at ${formatInstant(due)}.`
  yield found('retirement_overdue', key.kid, message)
}

/**
 * Checks that a schedule starts the rotation: its EventBridge rule exists, is enabled and targets the
 * function.
 */
export const checkSchedule: Check = function* ({ schedule: { exists, enabled, expression, rule, targets } }) {
  const ends = 'keys are not replaced any more.'
  if (!exists)
    yield found('schedule_removed', rule, `The rule that starts the rotation does not exist: ${ends}`)
  else if (!enabled)
    yield found('schedule_disabled', rule, `The rule that starts the rotation is disabled: ${ends}`)
  else if (expression === undefined)
    yield found('schedule_changed', rule, 'The rule has no schedule expression.')
  else if (!targets.some((arn) => arn.endsWith(`:function:${rule}`)))
    yield found('schedule_changed', rule, 'The rule does not target the rotation.')
}

/** Checks that a trail of CloudTrail logs the calls of KMS, so that changes of keys are noticed. */
export const checkTrail: Check = function* ({ trail: { ok, words } }) {
  if (!ok) yield found('calls_unlogged', 'CloudTrail', words)
}
