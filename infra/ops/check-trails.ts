import {
  CloudTrailClient,
  DescribeTrailsCommand,
  GetEventSelectorsCommand,
  type GetEventSelectorsCommandOutput as Selectors,
  GetTrailStatusCommand,
} from '@aws-sdk/client-cloudtrail'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { type Finding, judge } from './doctor/finding.ts'
import type { Target } from './target.ts'

const kms = 'kms.amazonaws.com'

/**
 * Checks that a CloudTrail trail of the account or its organization logs every call to KMS in this region.
 * EventBridge gets only logged calls, so alarms on keys are silent without a trail.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-service-event-cloudtrail.html
 */
export async function checkTrails({
  stage,
  hasAlarms,
}: Pick<Target, 'stage' | 'hasAlarms'>): Promise<Finding> {
  if (stage === 'local') return judge([], 'the local stack has no CloudTrail')
  if (!hasAlarms) return judge([], 'not needed, as the stage has no alarms')
  const client = new CloudTrailClient(clientOptions())
  const { trailList = [] } = await client.send(new DescribeTrailsCommand())
  const problems = [
    'no trail logs every call of KMS, so nobody hears of changed keys: set the knob auditTrail',
  ]
  for (const { TrailARN: arn = '' } of trailList) {
    const problem = await findProblem(client, arn)
    if (problem === undefined) return judge([], `${arn} logs every call of KMS`)
    problems.push(`${arn} ${problem}`)
  }
  return judge(problems, '')
}

async function findProblem(client: CloudTrailClient, arn: string): Promise<string | undefined> {
  try {
    const status = await client.send(new GetTrailStatusCommand({ Name: arn }))
    if (!status.IsLogging) return 'is stopped'
    if (status.LatestDeliveryError) return `cannot store its files (${status.LatestDeliveryError})`
    const selectors = await client.send(new GetEventSelectorsCommand({ TrailName: arn }))
    return logsAllOfKms(selectors) ? undefined : 'leaves out calls of KMS'
  } catch (error) {
    return `could not be read (${error instanceof Error ? error.name : String(error)})`
  }
}

/** A CloudTrail trail has basic or advanced selectors. A call is logged if one of them selects the call. */
const logsAllOfKms = ({ EventSelectors: basic, AdvancedEventSelectors: advanced }: Selectors) =>
  basic?.some(
    ({ IncludeManagementEvents: included, ReadWriteType: kind, ExcludeManagementEventSources: excluded }) =>
      included && kind === 'All' && !excluded?.includes(kms),
  ) ||
  advanced?.some(({ FieldSelectors: fields = [] }) =>
    fields.every(({ Field: field, Equals: values, NotEquals: others }) =>
      field === 'eventCategory'
        ? values?.includes('Management')
        : field === 'eventSource' && (values?.includes(kms) ?? !others?.includes(kms)),
    ),
  )
