import type { Context } from 'aws-lambda'
import * as v from 'valibot'
import { emitMetric } from '../../shared/emit-metric.ts'
import type { RunContext } from '../../shared/invocation.ts'
import { copyEvidence } from '../../shared/keys/evidence.ts'
import { readKeySet } from '../../shared/keys/set.ts'
import { nextDue } from '../../shared/keys/times.ts'
import { rotateKeys, type RotationResult } from '../../shared/keys/run.ts'
import { log } from '../../shared/log.ts'
import { settings } from '../../shared/settings.ts'

const requested = { requested_by: v.optional(v.pipe(v.string(), v.maxLength(200))) }

/** Refuses other members: a call of an operator who misspells `action` or `emergency` must not do less. */
const Call = v.union([
  v.strictObject({ action: v.literal('revoke'), kid: v.string(), ...requested }),
  v.strictObject({ action: v.literal('rotate'), emergency: v.optional(v.boolean(), false), ...requested }),
  v.strictObject({ action: v.optional(v.literal('clock'), 'clock'), ...requested }),
])

/** The wait for KMS ends this long before the function's timeout, to leave time for the other steps. */
const reserveMilliseconds = 15_000

/**
 * Rotates the signing keys. Input `{}`, from the schedule, takes every step that is due.
 * `{"action":"rotate"}` starts a rotation now; with `"emergency":true` the new key signs at once.
 * `{"action":"revoke","kid":…}` takes a key out of the JWKS and disables it.
 */
export async function handler(
  event: unknown,
  context: Pick<Context, 'awsRequestId'> & RunContext,
): Promise<RotationResult> {
  const at = Date.now()
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const call = v.safeParse(Call, event)
  if (!call.success) throw new Error('the call must be {}, a rotate or a revoke with a kid')
  const { requested_by = null, ...request } = call.output
  await emitOverdue(at)
  return rotateKeys(request.action === 'rotate' ? { ...request, at } : request, {
    id: context.awsRequestId,
    requestedBy: requested_by,
    waitUntil: Date.now() + (context.getRemainingTimeInMillis?.() ?? 0) - reserveMilliseconds,
  }).finally(copyEvidence)
}

/**
 * Emits the metric that shows by how much the rotation's next step is overdue. Emits it before the rotation
 * runs, so that the alarm is also raised if the rotation always fails.
 */
async function emitOverdue(now: number): Promise<void> {
  const keySet = await readKeySet()
  // Before the first key exists, `due` is the start of the attempt to create a key.
  const due = keySet.keys.length === 0 ? (keySet.attempt?.started_at ?? now) : nextDue(keySet, settings())
  emitMetric('RotationOverdueSeconds', Math.max(0, (now - due) / 1000), { unit: 'Seconds' })
}
