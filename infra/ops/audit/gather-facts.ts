import {
  DescribeRuleCommand,
  EventBridgeClient,
  ListTargetsByRuleCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { serviceName } from '../../names.ts'
import { checkTrails } from '../check-trails.ts'
import type { Target } from '../target.ts'
import type { Anchor, Facts, JwksFact, ScheduleFact } from './facts.ts'
import { readJwks } from './read-jwks.ts'
import { readKms } from './read-kms.ts'
import { readRecords } from './read-records.ts'

/** Reads the facts that the audit checks. Needs only the permissions of the auditor's role. */
export async function gatherFacts(
  target: Target,
  {
    at = Date.now(),
    anchor,
    tag = serviceName(target.stage),
  }: { at?: number; anchor?: Anchor | undefined; tag?: string } = {},
): Promise<Facts> {
  // Reads the JWKS before the records: the JWKS may be older than the records, as a cached copy may be, but
  // never newer.
  const jwks: JwksFact =
    target.baseUrl === undefined
      ? { answered: false, problem: 'the address of the API is not known: name it with --base-url' }
      : await readJwks(target.baseUrl)
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
    anchor,
  }
}

async function readSchedule(rule: string): Promise<ScheduleFact> {
  const events = new EventBridgeClient(clientOptions())
  try {
    const [described, { Targets = [] }] = await Promise.all([
      events.send(new DescribeRuleCommand({ Name: rule })),
      events.send(new ListTargetsByRuleCommand({ Rule: rule })),
    ])
    return {
      rule,
      exists: true,
      enabled: described.State === 'ENABLED',
      expression: described.ScheduleExpression,
      targets: Targets.flatMap(({ Arn }) => Arn ?? []),
    }
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error
    return { rule, exists: false, enabled: false, expression: undefined, targets: [] }
  }
}
