import {
  CloudTrailClient,
  DescribeTrailsCommand,
  GetEventSelectorsCommand,
  type GetEventSelectorsCommandOutput,
  GetTrailStatusCommand,
} from '@aws-sdk/client-cloudtrail'
import { clientOptions } from '../../shared/aws/client-options.ts'
import type { Finding } from './doctor/finding.ts'
import type { Target } from './target.ts'

const kms = 'kms.amazonaws.com'

/**
 * Checks that a trail of CloudTrail, the account's or its organization's, logs every call of KMS in this
 * region. EventBridge gets a call only if a trail logs it, so without one the alarms on keys are silent.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-service-event-cloudtrail.html
 */
export async function checkTrails({ stage, needsTrail }: Target): Promise<Finding> {
  if (!needsTrail)
    return {
      ok: true,
      words: stage === 'local' ? 'the local stack has no CloudTrail' : 'not needed, as no data is protected',
    }
  const client = new CloudTrailClient(clientOptions())
  const { trailList = [] } = await client.send(new DescribeTrailsCommand())
  const trails = await Promise.all(
    trailList.map(async ({ TrailARN: arn = '' }) => ({ arn, problem: await findProblem(client, arn) })),
  )
  const sound = trails.find(({ problem }) => problem === undefined)
  if (sound) return { ok: true, words: `${sound.arn} logs every call of KMS` }
  const problems = trails.map(({ arn, problem }) => `${arn} ${problem}`)
  const none = 'no trail logs every call of KMS, so nobody hears of changed keys: set the knob auditTrail'
  return { ok: false, words: [none, ...problems].join('; ') }
}

async function findProblem(client: CloudTrailClient, arn: string): Promise<string | undefined> {
  try {
    const [{ IsLogging: isLogging, LatestDeliveryError: failure }, selectors] = await Promise.all([
      client.send(new GetTrailStatusCommand({ Name: arn })),
      client.send(new GetEventSelectorsCommand({ TrailName: arn })),
    ])
    if (!isLogging) return 'is stopped'
    if (failure) return `cannot store its files (${failure})`
    return logsAllOfKms(selectors) ? undefined : 'leaves out calls of KMS'
  } catch (error) {
    return `could not be read (${error instanceof Error ? error.name : String(error)})`
  }
}

/** A trail has either basic or advanced selectors; a call is logged if one of them selects it. */
const logsAllOfKms = ({
  EventSelectors: basic,
  AdvancedEventSelectors: advanced,
}: GetEventSelectorsCommandOutput) =>
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
