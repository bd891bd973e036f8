import type { Facts } from './facts.ts'

/** A call that CloudTrail must show, made by the role of the rotation. */
export interface ExpectedCall {
  call: 'DisableKey' | 'DisableKey, ScheduleKeyDeletion'
  arn: string | null
  kid: string | null
  /** Epoch milliseconds: the call was made shortly before. */
  at: number
  /** Lambda's request id of the run that made it. */
  run_id: string
  /** Who or what had it done. */
  trigger: string
}

/**
 * How rotations look in the alarm on DisableKey and ScheduleKeyDeletion: the calls that the evidence accounts for. Any
 * other call on a signing key is nobody's.
 */
export const listExpectedCalls = ({ evidence }: Facts): ExpectedCall[] =>
  evidence.flatMap(({ record }) =>
    record?.action === 'disable'
      ? [
          {
            call: record.kms_state === 'Disabled' ? 'DisableKey' : 'DisableKey, ScheduleKeyDeletion',
            arn: record.old_arn,
            kid: record.old_kid,
            at: record.at,
            run_id: record.run_id,
            trigger: record.trigger.requested_by ?? record.trigger.kind,
          },
        ]
      : [],
  )
