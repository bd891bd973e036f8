import { type Check, found } from '../controls.ts'

/** Checks that a trail of CloudTrail logs the calls of KMS, so that changes of keys are noticed. */
export const checkTrail: Check = function* ({ trail: { ok, words } }) {
  if (!ok) yield found('calls_unlogged', 'CloudTrail', words)
}
