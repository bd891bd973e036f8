import type { KeyTimes } from './apply-change.ts'
import type { Evidence } from './evidence.ts'
import type { RotationRequest } from './next-step.ts'
import type { Trigger } from './key-set.ts'

/** One run of the rotation: what it was called for, and what it has done so far. */
export interface Run {
  request: RotationRequest
  /** Lambda's request id. */
  id: string
  requestedBy: string | null
  times: KeyTimes
  /** How long another run's CreateKey is waited for before it is taken for dead. */
  patienceMilliseconds: number
  /** The attempt that this run has begun and not created a key for yet. */
  begun: string | undefined
  /** The key that this run has in hand, and its attempt. */
  inHand: { attemptId: string; arn: string } | undefined
  transitions: Evidence[]
}

/** The trigger of what this run does: its call where that asked for it, the clock where it was due anyhow. */
export function triggerOf(run: Run, requested: boolean): Trigger {
  const { request } = run
  const kind = !requested
    ? 'clock'
    : request.action === 'rotate' && request.emergency
      ? 'emergency'
      : request.action
  return { kind, request_id: run.id, requested_by: requested ? run.requestedBy : null }
}
