import { Duration } from 'aws-cdk-lib'
import { Alarm, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { Alias, type Function as LambdaFunction, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import type { Deployer } from './deployer.ts'

interface GradualDeploymentProps {
  config: Config
  function: LambdaFunction
  /** Name with the stage's prefix. */
  functionName: string
  deployer: Deployer
}

/**
 * Publishes a version of a function with every deployment. The new version gets a tenth of the calls for five
 * minutes, then all of them; if it fails meanwhile, CodeDeploy rolls back.
 */
export class GradualDeployment extends Construct {
  /** The alias, which callers use instead of the function. */
  readonly target: IFunction

  constructor(scope: Construct, id: string, props: GradualDeploymentProps) {
    super(scope, id)
    const { deployer } = props
    // CDK's types are not written for exactOptionalPropertyTypes; the value is the same.
    const version = props.function.currentVersion as IVersion
    const alias = new Alias(this, 'Alias', { aliasName: 'live', version })
    this.target = alias as IFunction
    new LambdaDeploymentGroup(this, 'Group', {
      application: deployer.application,
      role: deployer.role,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: this.addAlarms(props),
      autoRollback: { deploymentInAlarm: true, failedDeployment: true, stoppedDeployment: true },
    })
  }

  /**
   * The alarms watch only the new version. Failures of the old one must not stop the deployment that fixes
   * them, and a tenth of one endpoint's calls would not show in the metrics of the whole API.
   */
  private addAlarms({ config, function: fn, functionName }: GradualDeploymentProps): Alarm[] {
    const { version } = fn.currentVersion
    const metrics = {
      errors: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensionsMap: {
          FunctionName: fn.functionName,
          Resource: `${fn.functionName}:live`,
          ExecutedVersion: version,
        },
        ...sumPerMinute,
      }),
      // An endpoint answers an unexpected error with 500, which Lambda does not count as an error.
      faults: new Metric({
        namespace: config.serviceName,
        metricName: 'Faults',
        dimensionsMap: { function: fn.functionName, version },
        ...sumPerMinute,
      }),
    }
    const topic =
      config.alarmTopicArn && new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', config.alarmTopicArn))
    return Object.entries(metrics).map(([name, metric]) => {
      const alarm = new Alarm(this, name, {
        alarmName: `${functionName}-deployment-${name}`,
        alarmDescription:
          'A new version failed during its deployment, and CodeDeploy rolls back to the previous one. What to do: infra/RUNBOOK.md#failed-deployment',
        metric,
        threshold: 1,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      })
      if (topic) alarm.addAlarmAction(topic)
      return alarm
    })
  }
}

const sumPerMinute = { statistic: 'Sum', period: Duration.minutes(1) }
