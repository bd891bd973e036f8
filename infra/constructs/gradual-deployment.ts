import { Duration, Stack } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Alias, type Function as LambdaFunction, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda'
import { Construct, DependencyGroup } from 'constructs'
import type { Config } from '../config.ts'
import { addAlarms, type AlarmSpec } from './add-alarms.ts'

/** A deployment is rolled back when at least this percentage of the new version's calls fails. */
const maxFailedPercent = 5
/** Minimum number of failures for a rollback: a single failure may come from a lost connection. */
const minFailures = 3

/**
 * Deploys the functions of a stack step by step, each behind an alias. The new version of a canary gets a
 * tenth of the calls for five minutes, then all of them; if it fails meanwhile, CodeDeploy rolls back. The
 * other functions get their new version when all canaries have passed.
 */
export class GradualDeployment extends Construct {
  private readonly config: Config
  private readonly application: LambdaApplication
  private readonly role: Role
  /** The aliases of the canaries. All other aliases wait until the canaries have their new version. */
  private readonly canaries = new DependencyGroup()

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id)
    this.config = config
    this.application = new LambdaApplication(this, 'Application')
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') })
    // On all alarms, as in AWS's own AWSCodeDeployRoleForLambdaLimited: CloudWatch does not answer for every
    // alarm to whoever may read only some (API reference: DescribeAlarms).
    this.role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }))
  }

  /** Returns the alias of a function, which callers invoke. `functionName` includes the stage's prefix. */
  deploy(fn: LambdaFunction, functionName: string, isCanary: boolean): IFunction {
    // The casts are only for the compiler: CDK's types do not fit exactOptionalPropertyTypes.
    const version = fn.currentVersion as IVersion
    const alias = new Alias(fn, 'Alias', { aliasName: 'live', version })
    if (isCanary) this.tryFirst(fn, functionName, alias)
    // Only the alias itself waits, not the resources of the same construct that refer to it.
    else alias.node.defaultChild?.node.addDependency(this.canaries)
    return alias as IFunction
  }

  private tryFirst(fn: LambdaFunction, functionName: string, alias: Alias): void {
    new LambdaDeploymentGroup(fn, 'Deployment', {
      application: this.application,
      // Keeps CDK from adding AWS's managed policy for CodeDeploy, which allows access to every alias of the
      // account.
      role: this.role.withoutPolicyUpdates(),
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: addAlarms(fn, this.config.alarmTopicArn, [this.alarmSpec(fn, functionName)]),
      autoRollback: { deploymentInAlarm: true, failedDeployment: true, stoppedDeployment: true },
    })
    this.canaries.add(alias.node.defaultChild ?? alias)
    const actions = ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig']
    const arn = Stack.of(this).formatArn({ service: 'lambda', resource: `function:${functionName}` })
    this.role.addToPolicy(new PolicyStatement({ actions, resources: [arn, `${arn}:live`] }))
  }

  /**
   * The alarm that rolls a deployment back. It watches only the new version: failures of the old version
   * must not stop the deployment that fixes them. Metrics of the whole API would not show failures in a tenth
   * of one endpoint's calls.
   */
  private alarmSpec(fn: LambdaFunction, functionName: string): AlarmSpec {
    const { version } = fn.currentVersion
    const ofVersion = {
      FunctionName: fn.functionName,
      Resource: `${fn.functionName}:live`,
      ExecutedVersion: version,
    }
    const sum = (namespace: string, metricName: string, dimensionsMap: Record<string, string>) =>
      new Metric({ namespace, metricName, dimensionsMap, statistic: 'Sum' })
    const failures = '(FILL(errors, 0) + FILL(faults, 0))'
    return {
      id: 'failures',
      name: `${functionName}-deployment`,
      meaning: 'A new version failed during its deployment, and CodeDeploy rolls back to the previous one.',
      runbook: 'failed-deployment',
      metric: new MathExpression({
        expression: `IF(${failures} >= ${minFailures}, 100 * ${failures} / requests, 0)`,
        usingMetrics: {
          requests: sum('AWS/Lambda', 'Invocations', ofVersion),
          errors: sum('AWS/Lambda', 'Errors', ofVersion),
          // Counts answers with status 500: endpoints catch unexpected errors, so Lambda counts none.
          faults: sum(this.config.serviceName, 'Faults', { function: fn.functionName, version }),
        },
        label: 'failures in percent of the new version’s calls',
        // The five minutes in which a canary is tried. CloudWatch evaluates this sliding window each minute.
        period: Duration.minutes(5),
      }),
      threshold: maxFailedPercent,
    }
  }
}
