import { Stack } from 'aws-cdk-lib'
import { AccountRootPrincipal, ArnPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { keysPartition, signingKeyTagName } from '../../shared/aws/signing-key-names.ts'
import type { Config } from '../config.ts'
import type { DataTable } from './grant.ts'

interface AuditorRoleProps {
  config: Config
  table: DataTable
}

/**
 * IAM role for the commands `keys audit` and `keys status`. It can only read the signing keys and their
 * records.
 */
export class AuditorRole extends Construct {
  readonly role: Role

  constructor(scope: Construct, id: string, { config, table }: AuditorRoleProps) {
    super(scope, id)
    const principal = config.auditorPrincipalArn
    this.role = new Role(this, 'Role', {
      description: `${config.stage}: audits the signing keys`,
      assumedBy: principal === undefined ? new AccountRootPrincipal() : new ArnPrincipal(principal),
    })
    const stack = Stack.of(this)
    const statements = [
      // These two have no resource-level permissions, so their resource must be `*`.
      new PolicyStatement({ actions: ['kms:ListKeys', 'cloudtrail:DescribeTrails'], resources: ['*'] }),
      // The trail may be of another region, or the organization's, which is another account's.
      new PolicyStatement({
        actions: ['cloudtrail:GetEventSelectors', 'cloudtrail:GetTrailStatus'],
        resources: [`arn:${stack.partition}:cloudtrail:*:*:trail/*`],
      }),
      new PolicyStatement({
        actions: ['kms:DescribeKey', 'kms:GetPublicKey', 'kms:ListResourceTags'],
        resources: [stack.formatArn({ service: 'kms', resource: 'key', resourceName: '*' })],
        conditions: { StringEquals: { [`aws:ResourceTag/${signingKeyTagName}`]: config.serviceName } },
      }),
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:Query'],
        resources: [table.tableArn],
        // ForAllValues also matches a request without leading keys, such as a scan; the Null condition
        // excludes such a request.
        conditions: {
          'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [keysPartition] },
          Null: { 'dynamodb:LeadingKeys': 'false' },
        },
      }),
      new PolicyStatement({
        actions: ['events:DescribeRule', 'events:ListTargetsByRule'],
        resources: [
          stack.formatArn({
            service: 'events',
            resource: 'rule',
            resourceName: `${config.namePrefix}rotate-signing-keys`,
          }),
        ],
      }),
    ]
    for (const statement of statements) this.role.addToPolicy(statement)
  }
}
