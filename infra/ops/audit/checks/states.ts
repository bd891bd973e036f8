import { type KeyState, keyStates, type SigningKey } from '../../../../shared/keys/key-set.ts'
import type { Check, Finding } from '../controls.ts'
import type { Facts } from '../facts.ts'
import { replay } from '../replay.ts'

/** Longest difference between the instant in a key and that of its evidence, which are taken one after the other. */
const sameInstantMilliseconds = 5_000

/** One key signs, at most one waits; every key is in the state, since the instant, that its evidence says. */
export const checkStates: Check = (facts) => {
  if (facts.ring === undefined) return []
  return [...signers(facts.ring.keys), ...identities(facts), ...histories(facts)]
}

function signers(keys: SigningKey[]): Finding[] {
  const counts = Map.groupBy(keys, ({ state }) => state)
  const active = counts.get('active') ?? []
  const published = counts.get('published') ?? []
  const kids = active.map(({ kid }) => kid).join(', ')
  return [
    ...(active.length === 0
      ? [finding('no_signer', ['pci-3.7.4'], 'RING', 'No key is active: nothing can be signed.')]
      : []),
    ...(active.length > 1
      ? [
          finding(
            'several_signers',
            ['pci-3.7.4', 'evidence-integrity'],
            kids,
            `${active.length} keys are active: only one may sign.`,
          ),
        ]
      : []),
    ...(published.length > 1
      ? [
          finding(
            'several_successors',
            ['pci-3.7.4'],
            published.map(({ kid }) => kid).join(', '),
            'More than one key waits to sign.',
          ),
        ]
      : []),
  ]
}

function identities({ ring, archive, thumbprints }: Facts): Finding[] {
  const all = [...(ring?.keys ?? []), ...archive]
  const seen = new Set<string>()
  return all.flatMap((key) => {
    const again = seen.has(key.kid)
    seen.add(key.kid)
    return [
      ...(again
        ? [finding('key_twice', ['evidence-integrity'], key.kid, 'The key is on record twice.')]
        : []),
      ...(thumbprints.get(key) === key.kid
        ? []
        : [
            finding(
              'wrong_kid',
              ['published-keys'],
              key.kid,
              'The kid is not the thumbprint of the public key on record.',
            ),
          ]),
    ]
  })
}

/** Only where no record is missing: otherwise every key would differ for that one reason. */
function histories({ ring, archive, evidence }: Facts): Finding[] {
  const records = evidence.flatMap(({ record }) => record ?? [])
  if (ring === undefined || records.length !== ring.sequence) return []
  const expected = replay(records)
  const present = [...ring.keys, ...archive]
  const lost = [...expected.keys()].filter((kid) => !present.some((key) => key.kid === kid))
  return [
    ...lost.map((kid) =>
      finding(
        'key_removed',
        ['evidence-integrity'],
        kid,
        'The evidence knows this key; the records have lost it.',
      ),
    ),
    ...present.flatMap((key) => compare(key, expected.get(key.kid), archive.includes(key))),
  ]
}

function compare(
  key: SigningKey,
  history: ReturnType<typeof replay> extends Map<string, infer H> ? H | undefined : never,
  archived: boolean,
): Finding[] {
  const wrong = (message: string) => [
    finding('state_unaccounted', ['evidence-integrity', 'pci-3.7.4'], key.kid, message),
  ]
  if (history === undefined) return wrong('No evidence record brought this key in.')
  if (history.state !== key.state) {
    return wrong(`The key is ${key.state} on record, but ${history.state} by its evidence.`)
  }
  if (history.archived !== archived)
    return wrong('The key has left the ring without evidence, or the reverse.')
  const differing = keyStates.find((state) => differs(key[instantOf[state]], history.since[state]))
  return differing === undefined
    ? []
    : wrong(`The instant at which it became ${differing} is another than in its evidence.`)
}

const instantOf = {
  published: 'published_at',
  active: 'active_at',
  retiring: 'retiring_at',
  retired: 'retired_at',
} as const satisfies Record<KeyState, keyof SigningKey>

const differs = (recorded: number | null, evident: number | undefined): boolean =>
  evident === undefined ? recorded !== null : Math.abs((recorded ?? 0) - evident) > sameInstantMilliseconds

const finding = (name: string, controls: Finding['controls'], subject: string, message: string): Finding => ({
  finding: name,
  controls,
  subject,
  message,
})
