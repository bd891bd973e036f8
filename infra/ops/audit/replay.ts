import type { Evidence } from '../../../shared/keys/evidence.ts'
import type { KeyState } from '../../../shared/keys/key-set.ts'

/** What the evidence says of a key. */
export interface History {
  state: KeyState
  since: Partial<Record<KeyState, number>>
  archived: boolean
}

/** Follows the records, oldest first, to the state in which they leave every key that they name. */
export function replay(records: readonly Evidence[]): Map<string, History> {
  const histories = new Map<string, History>()
  const enter = (kid: string | null, state: KeyState, at: number) => {
    if (kid === null) return
    const before: Omit<History, 'state'> = histories.get(kid) ?? { since: {}, archived: false }
    // A key that signs from the start was published at the same instant.
    const since = {
      ...(before.since.published === undefined ? { published: at } : {}),
      ...before.since,
      [state]: at,
    }
    histories.set(kid, { ...before, state, since })
  }
  for (const { action, old_kid: old, new_kid: next, at } of records) {
    switch (action) {
      case 'publish':
        enter(next, 'published', at)
        break
      case 'bootstrap':
      case 'activate':
        enter(old, 'retiring', at)
        enter(next, 'active', at)
        break
      case 'revoke':
        enter(old, 'retired', at)
        enter(next, 'active', at)
        break
      case 'retire':
        enter(old, 'retired', at)
        break
      case 'disable': {
        const history = old === null ? undefined : histories.get(old)
        if (history !== undefined) history.archived = true
        break
      }
    }
  }
  return histories
}
