import type { Environment } from '../../../shared/env.ts'
import { serviceName } from '../../names.ts'
import { checkTrails } from '../check-trails.ts'
import { readRotationEnvironment } from '../keys/rotation-environment.ts'
import { startProgress } from '../progress.ts'
import type { Target } from '../target.ts'
import type { Terminal } from '../terminal.ts'
import type { Anchor, Facts } from './facts.ts'
import { readCopies } from './read-copies.ts'
import { readJwks } from './read-jwks.ts'
import { describeKey, describeKeys, findTaggedKeys } from './read-kms.ts'
import { readRecords } from './read-records.ts'
import { readSchedule } from './read-schedule.ts'

/** Reads the facts that the audit checks. Needs only the permissions of the auditor's role. */
export async function gatherFacts(
  target: Pick<Target, 'stage' | 'baseUrl' | 'hasAlarms' | 'namePrefix' | 'settings' | 'breakGlass'>,
  {
    at = Date.now(),
    anchor,
    tag = serviceName(target.stage),
    environment,
    terminal = {},
  }: {
    at?: number
    anchor?: Anchor | undefined
    tag?: string
    environment?: Environment
    terminal?: Pick<Terminal, 'screen'>
  } = {},
): Promise<Facts> {
  const { EVIDENCE_COPIES: copiesAt, EVIDENCE_KEY_ID: evidenceKeyArn = '' } =
    environment ?? (await readRotationEnvironment(target.namePrefix))
  // Finds the keys, the JWKS and the copies before it reads the records. A rotation writes its record before
  // the key, JWKS or copy appears. So the records cover everything found, even during a rotation.
  using progress = startProgress(terminal, 'reading the keys in KMS', 'keys')
  const tags = { signing: tag, evidence: `${serviceName(target.stage)}/EvidenceKey` }
  const tagged = await findTaggedKeys(tags, progress.show)
  const jwks = await readJwks(target.baseUrl)
  const copies = await readCopies(copiesAt)
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
    kms: await describeKeys([...new Set([...tagged.signing, ...recorded.map(({ arn }) => arn)])]),
    evidenceKey: await describeKey(evidenceKeyArn),
    evidenceKeyArns: tagged.evidence,
    jwks,
    schedule,
    trail,
    copies,
    anchor,
  }
}
