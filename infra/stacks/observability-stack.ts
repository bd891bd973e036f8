import { ArnFormat, Stack, type StackProps } from 'aws-cdk-lib'
import { Alarm, AlarmStatusWidget, Dashboard } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { addAlarms } from '../constructs/add-alarms.ts'
import { KeyChanges } from '../constructs/key-changes.ts'
import type { DataStack } from './data-stack.ts'
import { alarmSpecs } from './observability/alarms.ts'
import { addJourneys, healthAlarms } from './observability/journeys.ts'
import { dashboardRows } from './observability/dashboard.ts'
import type { Observed } from './observability/metrics.ts'

interface ObservabilityStackProps extends StackProps, Observed {
  data: DataStack
}

/** The alarms of the service, each with a link to its section of the runbook, and one dashboard. */
export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, props: ObservabilityStackProps) {
    super(scope, id, props)
    const { config, data } = props
    new KeyChanges(this, 'KeyChanges', {
      config,
      keys: [...data.macKeys, data.totpKey, data.evidenceKey, ...(data.eventKey ? [data.eventKey] : [])].map(
        ({ keyArn }) => keyArn,
      ),
      name: 'key-changes',
      watchesAll: true,
    })
    const specs = alarmSpecs(props)
    // These alarms notify nobody. addJourneys combines them into composite alarms that notify the topic.
    const alarms = addAlarms(this, undefined, specs)
    addJourneys(
      this,
      config,
      Map.groupBy(alarms, (_, index) => specs[index]?.journey ?? 'shared'),
    )
    new Dashboard(this, 'Dashboard', {
      // Dashboards are global (CloudWatch: PutDashboard), so after a failover the name is already taken.
      dashboardName: config.failover ? `${config.serviceName}-${this.region}` : config.serviceName,
      widgets: [[this.healthLine(config)], ...dashboardRows(props)],
    })
  }

  /**
   * Shows the composite alarms by name, not by reference, because references break when test/deploy removes
   * the alarms.
   */
  private healthLine({ namePrefix }: Config): AlarmStatusWidget {
    const alarms = healthAlarms.map((name) => {
      const [resourceName, arnFormat] = [namePrefix + name, ArnFormat.COLON_RESOURCE_NAME]
      const arn = this.formatArn({ service: 'cloudwatch', resource: 'alarm', resourceName, arnFormat })
      return Alarm.fromAlarmArn(this, name, arn)
    })
    return new AlarmStatusWidget({ title: 'Health', alarms, width: 24 })
  }
}
