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
  /** Name of the function, including the stage's prefix. */
  functionName: string
  deployer: Deployer
}

/**
 * Publishes a version of a function with every deployment. The new version gets a tenth of the calls for five
 * minutes, then all of them; if it fails meanwhile, CodeDeploy rolls back.
 */
export class GradualDeployment extends Construct {
  /**
   * The function's alias. Callers use it instead of the function, so that CodeDeploy can shift their calls.
   */
  readonly target: IFunction

  constructor(scope: Construct, id: string, props: GradualDeploymentProps) {
    super(scope, id)
    const { deployer } = props
    // The cast changes no value: CDK's types do not compile with exactOptionalPropertyTypes.
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
   * Adds the alarms that roll a deployment back. They watch only the new version: failures of the old one
   * must not stop the deployment that fixes them. Metrics of the whole API would not show failures in a tenth
   * of one endpoint's calls.
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
      // Counts the answers with status 500: an endpoint catches unexpected errors, so Lambda's error metric
      // misses them.
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
