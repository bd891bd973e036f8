import type { KeyTimes } from './apply-change.ts'
import { keyIn, type SigningKeySet, type SigningKey } from './key-set.ts'

const dayMilliseconds = 86_400_000

/** When a published key may sign. */
export const activationDue = (key: SigningKey, times: KeyTimes): number =>
  key.published_at + times.signingKeyPublishSeconds * 1000

/** When the successor of the signer must be published, so that it may sign when the period is over. */
export const publicationDue = (active: SigningKey, times: KeyTimes): number =>
  (active.active_at ?? 0) +
  Math.max(0, times.signingKeyRotationDays * dayMilliseconds - times.signingKeyPublishSeconds * 1000)

/** The instant at which the clock has something to do next; in the past where a run is needed now. */
export function nextDue({ keys, attempt }: Pick<SigningKeySet, 'keys' | 'attempt'>, times: KeyTimes): number {
  const active = keyIn(keys, 'active')
  const next = keyIn(keys, 'published')
  return Math.min(
    ...(attempt === null ? [] : [attempt.started_at]),
    ...(next === undefined ? [] : [activationDue(next, times)]),
    ...(active === undefined ? [0] : next === undefined ? [publicationDue(active, times)] : []),
    ...keys.flatMap(({ state, remove_after }) =>
      state === 'retiring' && remove_after !== null ? [remove_after] : [],
    ),
    ...keys.flatMap(({ state, retired_at }) => (state === 'retired' ? [retired_at ?? 0] : [])),
  )
}
