import type { Context } from 'aws-lambda'
import * as v from 'valibot'
import { emitMetric } from '../../shared/emit-metric.ts'
import { nextDue } from '../../shared/keys/next-due.ts'
import type { RotationRequest } from '../../shared/keys/next-step.ts'
import { readKeySet } from '../../shared/keys/key-set.ts'
import { type RotationResult, rotateKeys } from '../../shared/keys/rotate-keys.ts'
import { log } from '../../shared/log.ts'
import { settings } from '../../shared/settings.ts'

const RequestedBy = v.optional(v.pipe(v.string(), v.maxLength(200)))

/** What the function is called with: nothing by the clock, otherwise an operator's wish. */
const Call = v.union([
  v.object({ action: v.literal('revoke'), kid: v.string(), requested_by: RequestedBy }),
  v.object({
    action: v.literal('rotate'),
    emergency: v.optional(v.boolean(), false),
    requested_by: RequestedBy,
  }),
  v.object({ action: v.optional(v.undefined()) }),
])

/**
 * Keeps the signing keys turning. `{}` is the clock's call and does what is due; `{"action":"rotate"}` starts a rotation now,
 * with `"emergency":true` the new key signs at once; `{"action":"revoke","kid":…}` takes a key out of the key set and has it disabled.
 */
export async function handler(
  event: unknown,
  context: Pick<Context, 'awsRequestId'>,
): Promise<RotationResult> {
  const at = Date.now()
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const parsed = v.safeParse(Call, event)
  if (!parsed.success) throw new Error('the call must be {}, a rotate or a revoke with a kid')
  const call = parsed.output
  const by = {
    runId: context.awsRequestId,
    requestedBy: 'requested_by' in call ? (call.requested_by ?? null) : null,
  }
  await tellDelay(at)
  const result = await rotateKeys(toRequest(call, at), by)
  emitMetric('Rotations', result.transitions.length)
  return result
}

function toRequest(call: v.InferOutput<typeof Call>, at: number): RotationRequest {
  switch (call.action) {
    case 'rotate':
      return { action: 'rotate', emergency: call.emergency, at }
    case 'revoke':
      return { action: 'revoke', kid: call.kid }
    case undefined:
      return { action: 'clock' }
  }
}

/** Tells for how long something has been due, before trying to do it: a rotation that fails every time is overdue all the same. */
async function tellDelay(now: number): Promise<void> {
  const ring = await readKeySet()
  // Before the first key there is nothing to be late with.
  const due = ring.keys.length === 0 ? now : nextDue(ring, settings())
  emitMetric('RotationOverdueSeconds', Math.max(0, (now - due) / 1000), { unit: 'Seconds' })
}
