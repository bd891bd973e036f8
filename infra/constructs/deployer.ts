import { Stack } from 'aws-cdk-lib'
import { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy'
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct, DependencyGroup } from 'constructs'

/**
 * CodeDeploy's application and role, which shift calls from the old version of a stack's canaries to the new
 * one.
 */
export class Deployer extends Construct {
  readonly application: LambdaApplication
  readonly role: IRole
  /** The aliases of the canaries. All other aliases wait until these have their new version. */
  readonly canaries = new DependencyGroup()
  private readonly ownRole: Role

  constructor(scope: Construct, id: string) {
    super(scope, id)
    this.application = new LambdaApplication(this, 'Application')
    this.ownRole = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') })
    // Keeps CDK from adding AWS's managed policy for CodeDeploy, which allows access to every alias of the
    // account.
    this.role = this.ownRole.withoutPolicyUpdates()
  }

  /** Allows CodeDeploy to shift the calls of a function, and to read the alarms that judge it. */
  allow(functionName: string, alarmNames: string[]): void {
    const arn = (service: string, resource: string) => Stack.of(this).formatArn({ service, resource })
    this.ownRole.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
        resources: ['', ':live'].map((qualifier) => arn('lambda', `function:${functionName}${qualifier}`)),
      }),
    )
    this.ownRole.addToPolicy(
      new PolicyStatement({
        actions: ['cloudwatch:DescribeAlarms'],
        resources: alarmNames.map((name) => arn('cloudwatch', `alarm:${name}`)),
      }),
    )
  }
}
