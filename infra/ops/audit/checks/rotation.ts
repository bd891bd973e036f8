import { nextDue } from '../../../../shared/keys/times.ts'
import { formatDuration, formatInstant } from '../../format.ts'
import { type Check, found } from '../controls.ts'

const hourMilliseconds = 3_600_000
const dayMilliseconds = 24 * hourMilliseconds

/** Maximum tolerated delay of a rotation step. The alarm `rotation-overdue` has the same limit. */
export const maxOverdueMilliseconds = hourMilliseconds

/**
 * Checks that signing keys are replaced in time. No rotation step may be overdue. The active key must not
 * outlive its period. Retiring keys must leave the JWKS in time.
 */
export const checkCryptoperiod: Check = function* ({ at, keySet, settings }) {
  if (keySet === undefined || keySet.keys.length === 0) return
  const overdue = at - nextDue(keySet, settings)
  if (overdue > maxOverdueMilliseconds) {
    const message = `A step of the rotation was due at ${formatInstant(at - overdue)} and is overdue by ${formatDuration(overdue)}.`
    yield found('rotation_overdue', 'rotation', message)
  }
  const period = settings.signingKeyRotationDays * dayMilliseconds
  // If somebody has shortened the period, the active key still signs until its successor has been published
  // for the required time.
  const maxAge = period + settings.signingKeyPublishSeconds * 1000 + maxOverdueMilliseconds
  for (const { kid, state, active_at: since, remove_after: due } of keySet.keys) {
    const aged = `The key has signed for ${formatDuration(at - (since ?? at))}; its period is ${formatDuration(period)}.`
    if (state === 'active' && at - (since ?? at) > maxAge) yield found('cryptoperiod_exceeded', kid, aged)
    const late = `The key should have left the JWKS at ${formatInstant(due)}.`
    if (state === 'retiring' && at - (due ?? at) > maxOverdueMilliseconds)
      yield found('retirement_overdue', kid, late)
  }
}

/** Checks that a schedule starts the rotation: a rule in EventBridge is enabled and targets the function. */
export const checkSchedule: Check = function* ({ schedule: { exists, enabled, expression, rule, targets } }) {
  const ends = 'keys are not replaced any more.'
  if (!exists)
    yield found('schedule_changed', rule, `The rule that starts the rotation does not exist: ${ends}`)
  else if (!enabled)
    yield found('schedule_disabled', rule, `The rule that starts the rotation is disabled: ${ends}`)
  else if (expression === undefined)
    yield found('schedule_changed', rule, 'The rule has no schedule expression.')
  else if (!targets.some((arn) => arn.endsWith(`:function:${rule}`)))
    yield found('schedule_changed', rule, 'The rule does not target the rotation.')
}

/** Checks that CloudTrail logs the calls to KMS, so that changes to keys are noticed. */
export const checkTrail: Check = function* ({ trail: { ok, words } }) {
  if (!ok) yield found('calls_unlogged', 'CloudTrail', words)
}
