import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'

/** A CloudWatch alarm to create. */
export interface AlarmSpec {
  id: string
  /** Name of the alarm, including the stage's prefix. */
  name: string
  /** What the alarm reports, in one sentence. */
  meaning: string
  /** Anchor of the section in infra/RUNBOOK.md that says what to do about the alarm. Default: the id. */
  runbook?: string
  metric: IMetric
  threshold: number
  /** The alarm is raised after this number of consecutive periods at or above the threshold. Default: 1. */
  periods?: number
  /** Whether a period without data also raises the alarm. Default: no. */
  alarmWhenSilent?: true
}

/** Creates alarms that link to the runbook, and notify an SNS topic if its ARN is given. */
export function addAlarms(
  scope: Construct,
  topicArn: string | undefined,
  specs: readonly AlarmSpec[],
): Alarm[] {
  const action = topicArn && new SnsAction(Topic.fromTopicArn(scope, 'AlarmTopic', topicArn))
  return specs.map(({ id, name, meaning, runbook = id, metric, threshold, periods = 1, alarmWhenSilent }) => {
    const alarm = new Alarm(scope, id, {
      alarmName: name,
      alarmDescription: `${meaning} What to do: infra/RUNBOOK.md#${runbook}`,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: alarmWhenSilent ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
    if (action) alarm.addAlarmAction(action)
    return alarm
  })
}
