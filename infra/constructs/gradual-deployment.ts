import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { Alias, type Function as LambdaFunction, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { addAlarms, type AlarmSpec } from './add-alarms.ts'
import type { Deployer } from './deployer.ts'

interface GradualDeploymentProps {
  config: Config
  function: LambdaFunction
  /** Name of the function, including the stage's prefix. */
  functionName: string
  deployer: Deployer
  /** Whether the new version gets a tenth of the calls for five minutes first. */
  canary: boolean
}

/** A deployment is rolled back if this share of the new version's calls fails, in percent, … */
const maxFailedPercent = 5
/** … and at least this many. A single failure may be due to one request or a lost connection. */
const minFailures = 3

/**
 * Publishes a version of a function with every deployment, behind an alias. The new version of a canary gets
 * a tenth of the calls for five minutes, then all of them; if it fails meanwhile, CodeDeploy rolls back. The
 * other functions get their new version when all canaries of the stack have passed.
 */
export class GradualDeployment extends Construct {
  /** The function's alias. Callers use it instead of the function, so that their calls can be shifted. */
  readonly target: IFunction

  constructor(scope: Construct, id: string, props: GradualDeploymentProps) {
    super(scope, id)
    const { deployer, canary } = props
    // The cast changes no value: CDK's types do not compile with exactOptionalPropertyTypes.
    const version = props.function.currentVersion as IVersion
    const alias = new Alias(this, 'Alias', { aliasName: 'live', version })
    this.target = alias as IFunction
    if (canary) this.tryFirst(alias, props)
    // Only the alias itself waits, not what refers to it and belongs to the same construct.
    else alias.node.defaultChild?.node.addDependency(deployer.canaries)
  }

  private tryFirst(alias: Alias, props: GradualDeploymentProps): void {
    const { config, deployer, functionName } = props
    const specs = this.alarmSpecs(props)
    new LambdaDeploymentGroup(this, 'Group', {
      application: deployer.application,
      role: deployer.role,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: addAlarms(this, config.alarmTopicArn, specs),
      autoRollback: { deploymentInAlarm: true, failedDeployment: true, stoppedDeployment: true },
    })
    deployer.canaries.add(alias.node.defaultChild ?? alias)
    deployer.allow(
      functionName,
      specs.map(({ name }) => name),
    )
  }

  /**
   * The alarms that roll a deployment back. They watch only the new version: failures of the old one
   * must not stop the deployment that fixes them. Metrics of the whole API would not show failures in a tenth
   * of one endpoint's calls.
   */
  private alarmSpecs({ config, function: fn, functionName }: GradualDeploymentProps): AlarmSpec[] {
    const { version } = fn.currentVersion
    const lambdaMetric = (metricName: string) =>
      new Metric({
        namespace: 'AWS/Lambda',
        metricName,
        dimensionsMap: {
          FunctionName: fn.functionName,
          Resource: `${fn.functionName}:live`,
          ExecutedVersion: version,
        },
        statistic: 'Sum',
      })
    const failures = {
      errors: lambdaMetric('Errors'),
      // Counts the answers with status 500: an endpoint catches unexpected errors, so Lambda's error metric
      // misses them.
      faults: new Metric({
        namespace: config.serviceName,
        metricName: 'Faults',
        dimensionsMap: { function: fn.functionName, version },
        statistic: 'Sum',
      }),
    }
    return Object.entries(failures).map(([id, metric]) => ({
      id,
      name: `${functionName}-deployment-${id}`,
      meaning: 'A new version failed during its deployment, and CodeDeploy rolls back to the previous one.',
      runbook: 'failed-deployment',
      metric: new MathExpression({
        expression: `IF(${id} >= ${minFailures}, 100 * ${id} / requests, 0)`,
        usingMetrics: { [id]: metric, requests: lambdaMetric('Invocations') },
        label: `${id} in percent of the new version's calls`,
        // As long as the canary is tried. CloudWatch evaluates a sliding window, every minute.
        period: Duration.minutes(5),
      }),
      threshold: maxFailedPercent,
    }))
  }
}
