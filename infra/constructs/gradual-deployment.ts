import { Duration } from 'aws-cdk-lib'
import { Alarm, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { Alias, type Function as LambdaFunction, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { serviceNamespace } from '../metrics.ts'
import type { Deployer } from './deployer.ts'

interface GradualDeploymentProps {
  config: Config
  function: LambdaFunction
  /** The function's name, with the stage's prefix. */
  functionName: string
  deployer: Deployer
}

/**
 * Publishes a version of a function with every deployment and gives it a tenth of the calls for five minutes, then all;
 * takes them back when it fails.
 */
export class GradualDeployment extends Construct {
  /** What callers call, in place of the function. */
  readonly target: IFunction

  constructor(scope: Construct, id: string, props: GradualDeploymentProps) {
    super(scope, id)
    const { deployer } = props
    // The types differ in how an optional property may be left out, and in nothing else.
    const version = props.function.currentVersion as IVersion
    const alias = new Alias(this, 'Alias', { aliasName: 'live', version })
    this.target = alias as IFunction
    new LambdaDeploymentGroup(this, 'Group', {
      application: deployer.application,
      role: deployer.role,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: this.watch(props),
      autoRollback: { deploymentInAlarm: true, failedDeployment: true, stoppedDeployment: true },
    })
  }

  /**
   * Watches the new version alone: what the old one does must not stop the deployment that mends it, and a tenth of the
   * calls of one endpoint would be lost in figures of the whole API.
   */
  private watch({ config, function: fn, functionName }: GradualDeploymentProps): Alarm[] {
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
        ...sumOfMinute,
      }),
      // An endpoint answers what it did not expect with 500, which is no error to Lambda.
      faults: new Metric({
        namespace: serviceNamespace(config),
        metricName: 'Faults',
        dimensionsMap: { function: fn.functionName, version },
        ...sumOfMinute,
      }),
    }
    const topic =
      config.alarmTopicArn && new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', config.alarmTopicArn))
    return Object.entries(metrics).map(([what, metric]) => {
      const alarm = new Alarm(this, what, {
        alarmName: `${functionName}-deployment-${what}`,
        alarmDescription:
          'A version that is being deployed fails, and its calls go back to the one before. What to do: infra/RUNBOOK.md#failed-deployment',
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

const sumOfMinute = { statistic: 'Sum', period: Duration.minutes(1) }
