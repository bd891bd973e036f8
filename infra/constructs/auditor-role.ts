import type { Stack } from 'aws-cdk-lib'
import * as iam from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { keysPartition, signingKeyTagName } from '../../shared/aws/signing-key-names.ts'
import type { Config } from '../config.ts'
import type { DataTable } from './grant.ts'

/**
 * Adds the IAM role for `keys audit` and `keys status`. It can read the signing keys, CloudTrail, the
 * rotation's configuration and its signed evidence, and list the copies of the evidence.
 */
export function addAuditorRole(
  stack: Stack,
  { auditors, stage, serviceName, namePrefix }: Config,
  { table, evidenceKey }: { table: DataTable; evidenceKey: IKey },
): iam.Role {
  const trusted = auditors?.map((arn) => new iam.ArnPrincipal(arn)) ?? [new iam.AccountRootPrincipal()]
  const role = new iam.Role(stack, 'Auditor', {
    description: `${stage}: audits the signing keys`,
    assumedBy: new iam.CompositePrincipal(...trusted),
  })
  const allow = (actions: string[], resource: string, conditions: Record<string, unknown> = {}) =>
    role.addToPolicy(new iam.PolicyStatement({ actions, resources: [resource], conditions }))
  // These actions have no resource-level permissions, so their resource must be `*`.
  allow(['kms:ListKeys', 'cloudtrail:DescribeTrails', 'cloudtrail:LookupEvents'], '*')
  // An organization may keep its CloudTrail trail in another region or account.
  const trails = `arn:${stack.partition}:cloudtrail:*:*:trail/*`
  allow(['cloudtrail:GetEventSelectors', 'cloudtrail:GetTrailStatus'], trails)
  const readKey = ['kms:DescribeKey', 'kms:GetKeyPolicy', 'kms:GetPublicKey', 'kms:ListResourceTags']
  allow([...readKey, 'kms:Verify'], evidenceKey.keyArn)
  allow(readKey, stack.formatArn({ service: 'kms', resource: 'key', resourceName: '*' }), {
    StringEquals: { [`aws:ResourceTag/${signingKeyTagName}`]: serviceName },
  })
  // ForAllValues also matches a request that names no partition key, such as a scan. The Null condition
  // excludes such a request.
  allow(['dynamodb:GetItem', 'dynamodb:Query'], table.tableArn, {
    'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [keysPartition] },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  })
  const name = `${namePrefix}rotate-signing-keys`
  const rule = { service: 'events', resource: 'rule', resourceName: name }
  allow(['events:DescribeRule', 'events:ListTargetsByRule'], stack.formatArn(rule))
  const rotation = { service: 'lambda', resource: `function:${name}` }
  allow(['lambda:GetFunctionConfiguration'], stack.formatArn(rotation))
  return role
}
