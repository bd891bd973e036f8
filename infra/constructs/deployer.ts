import { Stack } from 'aws-cdk-lib'
import { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy'
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'

/**
 * CodeDeploy's application and role, which shift calls from the old version of a stack's functions to the new
 * one.
 */
export class Deployer extends Construct {
  readonly application: LambdaApplication
  readonly role: IRole
  /** Name prefix of the functions and alarms that CodeDeploy's role may access. */
  readonly namePrefix: string

  constructor(scope: Construct, id: string, { namePrefix }: Config) {
    super(scope, id)
    this.namePrefix = namePrefix
    this.application = new LambdaApplication(this, 'Application')
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') })
    const stack = Stack.of(this)
    const prefixedArn = (service: string, resource: string) =>
      stack.formatArn({ service, resource: `${resource}:${namePrefix}*` })
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
        resources: [prefixedArn('lambda', 'function')],
      }),
    )
    role.addToPolicy(
      new PolicyStatement({
        actions: ['cloudwatch:DescribeAlarms'],
        resources: [prefixedArn('cloudwatch', 'alarm')],
      }),
    )
    // Keeps CDK from adding AWS's managed policy for CodeDeploy, which allows access to every alias of the
    // account.
    this.role = role.withoutPolicyUpdates()
  }
}
