import { Stack, type StackProps } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, Dashboard, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { KeyChanges } from '../constructs/key-changes.ts'
import type { DataStack } from './data-stack.ts'
import { type AlarmSpec, alarmSpecs } from './observability/alarms.ts'
import { dashboardRows } from './observability/dashboard.ts'
import type { Observed } from './observability/metrics.ts'

interface ObservabilityStackProps extends StackProps, Observed {
  data: DataStack
}

/** The alarms of the service, each with a link to its section of the runbook, and one dashboard. */
export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, props: ObservabilityStackProps) {
    super(scope, id, props)
    const { config, data, intake } = props
    // The local stack has no CloudTrail, whose events the rule would match.
    if (config.stage !== 'local')
      new KeyChanges(this, 'KeyChanges', {
        config,
        keys: [data.macKey, data.totpKey, ...(data.eventKey ? [data.eventKey] : [])],
        rotationRole: intake.scheduleRoles.get('rotate-signing-keys'),
      })
    const topic =
      config.alarmTopicArn && new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', config.alarmTopicArn))
    for (const spec of alarmSpecs(props)) {
      const alarm = this.addAlarm(config, spec)
      if (topic) alarm.addAlarmAction(topic)
    }
    new Dashboard(this, 'Dashboard', {
      dashboardName: config.serviceName,
      widgets: dashboardRows(props),
    })
  }

  private addAlarm(config: Config, spec: AlarmSpec): Alarm {
    return new Alarm(this, spec.id, {
      alarmName: `${config.namePrefix}${spec.id}`,
      alarmDescription: `${spec.meaning} What to do: infra/RUNBOOK.md#${spec.runbook}`,
      metric: spec.metric,
      threshold: spec.threshold,
      evaluationPeriods: spec.periods ?? 1,
      comparisonOperator: spec.alarmWhenSilent
        ? ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: spec.alarmWhenSilent ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
  }
}
