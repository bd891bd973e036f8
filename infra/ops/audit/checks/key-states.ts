import type { Evidence } from '../../../../shared/keys/evidence.ts'
import { keyIn, type KeyState, keyStates, type SigningKey } from '../../../../shared/keys/set.ts'
import { type Check, type Finding, found } from '../controls.ts'
import type { Facts } from '../facts.ts'

/** A key's timestamp may be this much later than its evidence: it is set once KMS has signed the evidence. */
const maxInstantGapMilliseconds = 15_000

/** Checks that a key signs, and that each key has the state and timestamps that its evidence gives. */
export const checkKeyStates: Check = function* (facts) {
  if (facts.keySet === undefined) return
  if (keyIn(facts.keySet.keys, 'active') === undefined)
    yield found('no_signer', 'RING', 'No key is active: the service cannot sign.')
  yield* checkHistories(facts)
}

/** Compares keys with their evidence. Does nothing if an evidence record is missing. */
function* checkHistories({ keySet, archive, evidence }: Facts): Generator<Finding> {
  const records = evidence.flatMap(({ record }) => record ?? [])
  if (keySet === undefined || records.length !== keySet.sequence) return
  const histories = replay(records)
  const present = [...keySet.keys, ...archive]
  for (const kid of histories.keys())
    if (!present.some((key) => key.kid === kid))
      yield found('state_unaccounted', kid, 'The evidence names this key, but it is not on record.')
  for (const key of present) {
    const difference = compare(key, histories.get(key.kid), archive.includes(key))
    if (difference !== undefined) yield found('state_unaccounted', key.kid, difference)
  }
}

function compare(key: SigningKey, history: History | undefined, archived: boolean): string | undefined {
  if (history === undefined) return 'No evidence record introduces this key.'
  if (history.state !== key.state)
    return `The key is ${key.state} on record, but ${history.state} by its evidence.`
  if (history.archived !== archived)
    return 'The key is archived without evidence, or evidence without being archived.'
  const differing = keyStates.find((state) => differs(key[`${state}_at`], history.since[state]))
  return differing && `The instant at which it became ${differing} differs from its evidence.`
}

const differs = (recorded: number | null, evident: number | undefined): boolean =>
  evident === undefined ? recorded !== null : Math.abs((recorded ?? 0) - evident) > maxInstantGapMilliseconds

/** The states and timestamps that a signing key should have, computed from its evidence. */
interface History {
  state: KeyState
  since: Partial<Record<KeyState, number>>
  archived: boolean
}

/** Derives the states of every key from the evidence records, which must be in order, oldest first. */
function replay(records: readonly Evidence[]): Map<string, History> {
  const histories = new Map<string, History>()
  const enterState = (kid: string | null, state: KeyState, at: number) => {
    if (kid === null) return
    const before: Omit<History, 'state'> = histories.get(kid) ?? { since: {}, archived: false }
    // If a key becomes active without having been published, it counts as published at that instant.
    const published = before.since.published ?? at
    histories.set(kid, { ...before, state, since: { ...before.since, published, [state]: at } })
  }
  for (const { action, old_kid: old, new_kid: next, at } of records) {
    if (action === 'disable') {
      const history = histories.get(old ?? '')
      if (history !== undefined) history.archived = true
    } else if (action === 'publish') enterState(next, 'published', at)
    else {
      enterState(old, action === 'revoke' || action === 'retire' ? 'retired' : 'retiring', at)
      enterState(next, 'active', at)
    }
  }
  return histories
}
