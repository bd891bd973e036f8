import { thumbprint } from '../../../shared/keys/key-set.ts'
import type { Target } from '../target.ts'
import { serviceName } from '../target.ts'
import type { Anchor, Facts, KeySet } from './facts.ts'
import { readKeySet } from './read-key-set.ts'
import { readKms } from './read-kms.ts'
import { readRecords } from './read-records.ts'
import { readSchedule } from './read-schedule.ts'

/** The function that turns the keys, and the rule that calls it. */
export const rotationName = (target: Pick<Target, 'namePrefix'>): string =>
  `${target.namePrefix}rotate-signing-keys`

/** Reads all that the audit goes by. It changes nothing, and needs no more than the auditor's role grants. */
export async function gatherFacts(
  target: Target,
  {
    at = Date.now(),
    anchor,
    tag = serviceName(target),
  }: { at?: number; anchor?: Anchor | undefined; tag?: string } = {},
): Promise<Facts> {
  // The key set first: a transition in between makes it older than the records, as a cache may be, and never newer.
  const keySet: KeySet =
    target.baseUrl === undefined
      ? { answered: false, problem: 'the address of the API is not known: name it with --base-url' }
      : await readKeySet(target.baseUrl)
  const [records, schedule] = await Promise.all([readRecords(), readSchedule(rotationName(target))])
  const recorded = [...(records.ring?.keys ?? []), ...records.archive]
  return {
    at,
    settings: target.settings,
    tag,
    ...records,
    thumbprints: await readThumbprints([...recorded, ...(keySet.answered ? keySet.keys : [])]),
    kms: await readKms(
      tag,
      recorded.map(({ arn }) => arn),
    ),
    keySet,
    schedule,
    anchor,
  }
}

async function readThumbprints(keys: readonly { n?: unknown; e?: unknown }[]): Promise<Map<object, string>> {
  const thumbprints = new Map<object, string>()
  for (const key of keys) {
    const { n, e } = key
    if (typeof n === 'string' && n !== '' && typeof e === 'string' && e !== '')
      thumbprints.set(key, await thumbprint({ n, e }))
  }
  return thumbprints
}
