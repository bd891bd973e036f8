import { serviceName } from '../../names.ts'
import { checkTrails } from '../check-trails.ts'
import type { Target } from '../target.ts'
import type { Anchor, Facts } from './facts.ts'
import { findCopies, readCopies } from './read-copies.ts'
import { readJwks } from './read-jwks.ts'
import { readKms } from './read-kms.ts'
import { readRecords } from './read-records.ts'
import { readSchedule } from './read-schedule.ts'

/** Reads the facts that the audit checks. Needs only the permissions of the auditor's role. */
export async function gatherFacts(
  target: Target,
  {
    at = Date.now(),
    anchor,
    tag = serviceName(target.stage),
    copiesAt,
  }: { at?: number; anchor?: Anchor | undefined; tag?: string; copiesAt?: string | undefined } = {},
): Promise<Facts> {
  // Read JWKS and evidence copies first: they may be older than the records, but never newer.
  const jwks = await readJwks(target.baseUrl)
  const copies = await readCopies(copiesAt ?? (await findCopies(target.namePrefix)))
  const [records, schedule, trail] = await Promise.all([
    readRecords(),
    readSchedule(`${target.namePrefix}rotate-signing-keys`),
    checkTrails(target),
  ])
  const recorded = [...(records.keySet?.keys ?? []), ...records.archive]
  return {
    at,
    settings: target.settings,
    owners: target,
    tag,
    ...records,
    ...(await readKms(
      { signing: tag, evidence: `${serviceName(target.stage)}/EvidenceKey` },
      recorded.map(({ arn }) => arn),
    )),
    jwks,
    schedule,
    trail,
    copies,
    anchor,
  }
}
