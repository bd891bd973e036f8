import { type Attempt, type CreatedKey, keyIn, type KeyState, type SigningKey } from './set.ts'
import { drainMilliseconds, type KeyTimes, removalDue } from './times.ts'

/** A transition of the key set, recorded in an audit record. `created` is a new key that joins the set. */
export type KeyTransition =
  | { action: 'publish'; created: CreatedKey }
  /** Makes the published key the active key. */
  | { action: 'activate'; created?: CreatedKey }
  | { action: 'retire'; kid: string }
  /**
   * Takes a key out of the JWKS at once. If it is the active key, the next key (the published one) signs from
   * then on.
   */
  | { action: 'revoke'; kid: string; created?: CreatedKey }
  /** Moves a retired key, which KMS has disabled, from the key set to the archive. */
  | { action: 'disable'; kid: string }

/** Result of a key transition: all keys as they are afterwards, and the one or two keys that were changed. */
export interface TransitionResult {
  keys: SigningKey[]
  /** The key that was retired, revoked or disabled. For `activate`, the previous signer. */
  old: SigningKey | undefined
  /** The key that joined the key set (at `publish`) or became the signer (at `activate` or `revoke`). */
  next: SigningKey | undefined
}

/** Chooses the transition that adds a new key. It is `revoke` if the new key replaces the active key. */
export function transitionFor(
  { trigger, replaces }: Pick<Attempt, 'trigger' | 'replaces'>,
  keys: readonly SigningKey[],
  created: CreatedKey,
): KeyTransition {
  const active = keyIn(keys, 'active')
  if (active !== undefined && active.kid === replaces) return { action: 'revoke', kid: active.kid, created }
  const signsAtOnce = active === undefined || trigger.kind === 'emergency'
  return { action: signsAtOnce ? 'activate' : 'publish', created }
}

/** Applies a transition to the keys. Throws if the keys' states do not allow it. */
export function applyTransition(
  keys: readonly SigningKey[],
  transition: KeyTransition,
  times: KeyTimes,
  now: number,
): TransitionResult {
  const created = 'created' in transition ? newKey(transition.created, times, now) : undefined
  const present = created === undefined ? [...keys] : [...keys, created]
  switch (transition.action) {
    case 'publish':
      return { keys: present, old: undefined, next: created }
    case 'activate':
      return activate(present, times, now)
    case 'retire':
      return retire(present, requireKey(present, transition.kid, ['retiring']), now)
    case 'revoke':
      return revoke(present, transition.kid, times, now)
    case 'disable': {
      const old = requireKey(present, transition.kid, ['retired'])
      return { keys: present.filter((key) => key !== old), old, next: undefined }
    }
  }
}

const newKey = (created: CreatedKey, times: KeyTimes, now: number): SigningKey => ({
  ...created,
  state: 'published',
  published_at: now,
  active_at: null,
  retiring_at: null,
  retired_at: null,
  remove_after: null,
  drain_ms: drainMilliseconds(times),
})

/** Makes a published key the signer. The previous signer stays in the JWKS while its tokens may be valid. */
function activate(keys: SigningKey[], times: KeyTimes, now: number): TransitionResult {
  const chosen = keyIn(keys, 'published')
  if (chosen === undefined) throw new Error('there is no published key that could sign')
  const old = keyIn(keys, 'active')
  const next: SigningKey = { ...chosen, state: 'active', active_at: now, drain_ms: drainMilliseconds(times) }
  const after = keys.map((key): SigningKey => {
    if (key === old)
      return { ...key, state: 'retiring', retiring_at: now, remove_after: removalDue(key, times, now) }
    return key === chosen ? next : key
  })
  return { keys: after, old, next }
}

function retire(keys: SigningKey[], old: SigningKey, now: number): TransitionResult {
  const retired: SigningKey = { ...old, state: 'retired', retired_at: now }
  return { keys: keys.map((key) => (key === old ? retired : key)), old, next: undefined }
}

function revoke(keys: SigningKey[], kid: string, times: KeyTimes, now: number): TransitionResult {
  const old = requireKey(keys, kid, ['published', 'active', 'retiring'])
  const result = retire(keys, old, now)
  return old.state === 'active' ? { ...activate(result.keys, times, now), old } : result
}

function requireKey(keys: readonly SigningKey[], kid: string, states: readonly KeyState[]): SigningKey {
  const key = keys.find((candidate) => candidate.kid === kid && states.includes(candidate.state))
  if (key === undefined) throw new Error(`there is no ${states.join(' or ')} key of this kid`)
  return key
}
