import { Stack, Token, Validations } from 'aws-cdk-lib'
import { CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnDistribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnPolicy } from 'aws-cdk-lib/aws-iam'
import { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import type { IConstruct } from 'constructs'
import { unmatchedQueueName } from '../event-patterns.ts'
import { AuthorizationPageContentStack } from './authorization-page-stacks.ts'

type Applies = (construct: IConstruct) => boolean

const isA =
  (type: abstract new (...args: never[]) => IConstruct): Applies =>
  (construct) =>
    construct instanceof type

const isPolicyUnder =
  (path: string): Applies =>
  (construct) =>
    construct instanceof CfnPolicy && construct.node.path.includes(path)

const isBucketDeployment: Applies = (construct) =>
  construct.node.scopes.some((scope) => scope instanceof AuthorizationPageContentStack)

type Row = [applies: Applies, rule: string, reason: string]

/** The findings of cdk-nag that are acceptable. Each row has the constructs, the rule and the reason. */
const rules: Row[] = [
  [
    isA(CfnBucket),
    'AwsSolutions-S1',
    'The page’s bucket has four public files, which only CloudFront can read; the trail’s bucket is read by people and audits, seldom.',
  ],
  [isA(CfnDistribution), 'AwsSolutions-CFR1', 'The service has members in every country.'],
  [
    isA(CfnDistribution),
    'AwsSolutions-CFR2',
    'The page’s distribution serves static files only, so a firewall would protect nothing. The edge has one.',
  ],
  [
    isA(CfnDistribution),
    'AwsSolutions-CFR3',
    'An access log would store authorization requests, which are in the query. The API logs what it receives.',
  ],
  [
    isA(CfnDistribution),
    'AwsSolutions-CFR4',
    'CloudFront’s default certificate sets the minimum TLS version. The edge takes TLS 1.2 or later at a `domainName`; for the authorization page, a deployment puts its own domain in front and names it in `authUrl`.',
  ],
  ...[
    'IAM5[Action::s3:GetObject*]',
    'IAM5[Action::s3:GetBucket*]',
    'IAM5[Action::s3:List*]',
    'IAM5[Action::s3:DeleteObject*]',
    'IAM5[Action::s3:Abort*]',
    'IAM5[Resource::*]',
    'IAM5[Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*]',
  ].map((finding): Row => [
    isBucketDeployment,
    `AwsSolutions-${finding}`,
    'CDK writes this policy for its own deployment function. That function runs only during a deployment, and reaches CDK’s asset bucket, the page’s bucket and CloudFront’s invalidations, which have no resource-level permissions.',
  ]),
  [
    (construct) => construct instanceof CfnFunction && isBucketDeployment(construct),
    'AwsSolutions-L1',
    'CDK chooses the runtime of its own deployment function.',
  ],
  [
    isBucketDeployment,
    'AwsSolutions-IAM5[Resource::<stage>-authorization-page:ExportsOutputFnGetAttBucket83908E77Arn063C8555/*]',
    'The deployment writes to any key of the page’s own bucket.',
  ],
  [
    isA(CfnSecret),
    'AwsSolutions-SMG4',
    'A deployment rotates the secrets of the edge (`secretNumber`), because CloudFront and the functions hold copies that only a deployment changes.',
  ],
  [
    isA(CfnPolicy),
    'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:kms:<AWS::Region>:<AWS::AccountId>:key/*]',
    'Signing keys are created at run time, so their ARNs are not known. The statements apply only to keys with this deployment’s tag.',
  ],
  [
    isPolicyUnder('/rotate-signing-keys/'),
    'AwsSolutions-IAM5[Resource::*]',
    'CreateKey accepts only `*`, and is limited to keys with this deployment’s tag.',
  ],
  [
    isPolicyUnder('/rotate-signing-keys/'),
    'AwsSolutions-IAM5[Resource::<stage>-audit-trail:ExportsOutputFnGetAttBucket83908E77Arn063C8555/evidence/*]',
    'The copy of each record of evidence has a name of its own.',
  ],
  [
    isPolicyUnder('/Auditor/'),
    'AwsSolutions-IAM5[Resource::*]',
    'ListKeys, DescribeTrails and LookupEvents have no resource-level permissions; the auditor finds signing keys that no record names, the trails, and who changed a key.',
  ],
  [
    isPolicyUnder('/Auditor/'),
    'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:cloudtrail:*:*:trail/*]',
    'An account has trails of other regions, and of its organization.',
  ],
  [
    ({ node: { path } }) =>
      [unmatchedQueueName, 'KeyChanges/Queue'].some((queue) => path.endsWith(`/${queue}/Resource`)),
    'AwsSolutions-SQS3',
    'No function reads this queue. It keeps events for operators, and an alarm reports them.',
  ],
  [
    isA(CfnStage),
    'AwsSolutions-APIG1',
    'Every function logs one structured line per request, with request id, route, status and duration. An access log would repeat that for a quarter of the price of the request.',
  ],
  [
    isA(CfnRoute),
    'AwsSolutions-APIG4',
    'The functions authorize: they read the session of the opaque access_token together with their data in one round trip, and an authorizer would add another. A test checks that every route that is not on the public list requires a token.',
  ],
]

/** Fills the placeholders in a rule's id with the region, the partition and the stage, as cdk-nag does. */
function idFor(construct: IConstruct, rule: string): string {
  const { region, partition, stackName } = Stack.of(construct)
  const prefix = stackName.replace(/-(intake|authorization-page-content)$/, '')
  const id = `${rule.split('-')[0] ?? ''}::${rule}`.replace('<stage>', prefix)
  // Without a fixed region, the placeholders stay in this id, as they stay in cdk-nag's ids.
  if (Token.isUnresolved(region)) return id
  return id.replace('<AWS::Region>', region).replace('<AWS::Partition>', partition)
}

/** Acknowledges the cdk-nag findings that are acceptable, for every construct of an app. */
export function acknowledgeRules(root: IConstruct): void {
  for (const construct of root.node.findAll())
    for (const [applies, rule, reason] of rules)
      if (applies(construct)) Validations.of(construct).acknowledge({ id: idFor(construct, rule), reason })
}
