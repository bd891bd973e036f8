import { Stack, Validations } from 'aws-cdk-lib'
import { LambdaApplication } from 'aws-cdk-lib/aws-codedeploy'
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'

/** Who moves calls from one version of a stack's functions to the next: CodeDeploy, with one role for the stack. */
export class Deployer extends Construct {
  readonly application: LambdaApplication
  readonly role: IRole

  constructor(scope: Construct, id: string, { namePrefix }: Config) {
    super(scope, id)
    this.application = new LambdaApplication(this, 'Application')
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') })
    const stack = Stack.of(this)
    const named = (service: string, resource: string) =>
      stack.formatArn({ service, resource: `${resource}:${namePrefix}*` })
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
        resources: [named('lambda', 'function')],
      }),
    )
    role.addToPolicy(
      new PolicyStatement({
        actions: ['cloudwatch:DescribeAlarms'],
        resources: [named('cloudwatch', 'alarm')],
      }),
    )
    for (const resource of [
      'lambda:<AWS::Region>:<AWS::AccountId>:function',
      'cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm',
    ])
      Validations.of(this).acknowledge({
        id: `AwsSolutions::AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:${resource}:${namePrefix}*]`,
        reason:
          'CodeDeploy moves the alias of each function of the stage and reads its alarm; they share the stage’s prefix, and a list of them all would outgrow a policy.',
      })
    // Otherwise each group would add AWS's managed policy, which reaches every alias of the account.
    this.role = role.withoutPolicyUpdates()
  }
}
