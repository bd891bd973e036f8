import { Stack, Token, Validations } from 'aws-cdk-lib'
import { CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnDistribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnRule } from 'aws-cdk-lib/aws-events'
import { CfnPolicy } from 'aws-cdk-lib/aws-iam'
import { CfnEventInvokeConfig, CfnEventSourceMapping, CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager'
import { CfnQueue } from 'aws-cdk-lib/aws-sqs'
import type { IConstruct } from 'constructs'
import { unmatchedQueueName } from '../event-patterns.ts'
import { AuthorizationPageContentStack } from './authorization-page-stacks.ts'

/** A cdk-nag rule that is acknowledged for some constructs. */
interface Acknowledgement {
  id: string
  /** Why the finding is acceptable for these constructs. */
  reason: string
  applies: (construct: IConstruct) => boolean
}

const isPolicyUnder =
  (path: string) =>
  (construct: IConstruct): boolean =>
    construct instanceof CfnPolicy && construct.node.path.includes(path)

/**
 * Whether a construct belongs to CDK's own Lambda function that copies files into a bucket during a
 * deployment.
 */
const isBucketDeployment = (construct: IConstruct): boolean =>
  construct.node.scopes.some((scope) => scope instanceof AuthorizationPageContentStack)

const serviceRules: Acknowledgement[] = [
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:kms:<AWS::Region>:<AWS::AccountId>:key/*]',
    reason:
      'Signing keys are created at run time, so their ARNs are not known. The statements apply only to keys with this deployment’s tag.',
    applies: (construct) => construct instanceof CfnPolicy,
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason:
      'CreateKey accepts only `*`, and is limited to keys with this deployment’s tag. ListKeys has no resource-level permissions; it finds keys whose creator died before recording them.',
    applies: isPolicyUnder('/rotate-signing-keys/'),
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason:
      'ListKeys has no resource-level permissions; it finds the signing keys of a stage that is removed.',
    applies: isPolicyUnder('/SigningKeyDeletion/'),
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason:
      'ListKeys has no resource-level permissions; the auditor uses it to find signing keys that no record names.',
    applies: isPolicyUnder('/Auditor/'),
  },
  {
    id: 'Serverless::Serverless-EventBusDLQ',
    reason:
      'A scheduled call that cannot be delivered needs no dead-letter queue: the next call, a minute later, does the same work. An alarm reports when none succeed.',
    applies: (construct) => construct instanceof CfnRule && construct.scheduleExpression !== undefined,
  },
  {
    id: 'Serverless::Serverless-EventBusDLQ',
    reason: 'This rule has no target: its matches are counted in CloudWatch, and nothing is delivered.',
    applies: (construct) => construct.node.path.includes('/KeyChanges/'),
  },
  {
    id: 'AwsSolutions::AwsSolutions-SQS3',
    reason:
      'No function reads this queue. It keeps the events that no rule takes, and an alarm reports them.',
    applies: (construct) => construct.node.path.endsWith(`/${unmatchedQueueName}/Resource`),
  },
  {
    id: 'Serverless::Serverless-EventBusDLQ',
    reason: 'The target of this rule is a dead-letter queue itself.',
    applies: (construct) => construct.node.path.includes('/unmatched-rule/'),
  },
  {
    id: 'AwsSolutions::AwsSolutions-APIG1',
    reason:
      'Every function logs one structured line per request, with request id, route, status and duration. An access log would repeat that for a quarter of the price of the request.',
    applies: (construct) => construct instanceof CfnStage,
  },
  {
    id: 'Serverless::Serverless-APIGWAccessLogging',
    reason: 'As for AwsSolutions-APIG1: the functions log every request.',
    applies: (construct) => construct instanceof CfnStage,
  },
  {
    id: 'AwsSolutions::AwsSolutions-APIG4',
    reason:
      'The functions authorize: they read the session of the opaque access_token together with their data in one round trip, and an authorizer would add another. A test checks that every route that is not on the public list requires a token.',
    applies: (construct) => construct instanceof CfnRoute,
  },
  {
    id: 'Serverless::Serverless-SQSRedrivePolicy',
    reason:
      'This queue is a dead-letter queue itself. An alarm reports its messages, and a person handles them.',
    applies: (construct) =>
      construct instanceof CfnQueue && /-dead-letters$/.test(construct.node.scope?.node.id ?? ''),
  },
  {
    id: 'Serverless::Serverless-LambdaDLQ',
    reason:
      'A function’s dead-letter target serves asynchronous invocations only. Endpoints are invoked synchronously, events come from queues that have dead-letter queues, and a failed scheduled run raises an alarm and is repeated by the next run.',
    applies: (construct) => construct instanceof CfnFunction,
  },
  {
    id: 'Serverless::Serverless-LambdaAsyncFailureDestination',
    reason:
      'As for Serverless-LambdaDLQ: a failed scheduled run raises an alarm and is repeated by the next run.',
    applies: (construct) => construct instanceof CfnEventInvokeConfig,
  },
  {
    id: 'Serverless::Serverless-LambdaEventSourceMappingDestination',
    reason: 'Failure destinations are for streams. An SQS source has its queue’s dead-letter queue instead.',
    applies: (construct) => construct instanceof CfnEventSourceMapping,
  },
  {
    id: 'Serverless::Serverless-LambdaTracing',
    reason:
      'At full load, tracing would cost more than the requests; `ops trace` follows one over all functions.',
    applies: (construct) => construct instanceof CfnFunction,
  },
]

const edgeRules: Acknowledgement[] = [
  {
    id: 'AwsSolutions::AwsSolutions-SMG4',
    reason:
      'A deployment rotates the secrets of the edge (`secretNumber`), because CloudFront and the functions hold copies that only a deployment changes.',
    applies: (construct) => construct instanceof CfnSecret,
  },
]

const authorizationPageRules: Acknowledgement[] = [
  {
    id: 'AwsSolutions::AwsSolutions-S1',
    reason: 'The bucket contains four public files, and only CloudFront can read it.',
    applies: (construct) => construct instanceof CfnBucket,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR1',
    reason: 'The service has members in every country.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR2',
    reason:
      'The page’s distribution serves static files only, so a firewall would protect nothing. The edge has one.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR3',
    reason:
      'An access log would store authorization requests, which are in the query. The API logs what it receives.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR4',
    reason:
      'CloudFront’s default certificate sets the minimum TLS version. The edge takes TLS 1.2 or later at a `domainName`; for the authorization page, a deployment puts its own domain in front and names it in `authUrl`.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  ...[
    'IAM5[Action::s3:GetObject*]',
    'IAM5[Action::s3:GetBucket*]',
    'IAM5[Action::s3:List*]',
    'IAM5[Action::s3:DeleteObject*]',
    'IAM5[Action::s3:Abort*]',
    'IAM5[Resource::*]',
    'IAM5[Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*]',
  ].map((finding) => ({
    id: `AwsSolutions::AwsSolutions-${finding}`,
    reason:
      'CDK writes this policy for its own deployment function. That function runs only during a deployment, and reaches CDK’s asset bucket, the page’s bucket and CloudFront’s invalidations, which have no resource-level permissions.',
    applies: isBucketDeployment,
  })),
  ...['AwsSolutions::AwsSolutions-L1', 'Serverless::Serverless-LambdaLatestVersion'].map((id) => ({
    id,
    reason: 'CDK chooses the runtime of its own deployment function.',
    applies: (construct: IConstruct) => construct instanceof CfnFunction && isBucketDeployment(construct),
  })),
]

/**
 * The cdk-nag rules that are acknowledged for a construct. Rule ids that contain a name of the construct are
 * built here.
 */
function* acknowledgementsOf(construct: IConstruct): Generator<{ id: string; reason: string }> {
  for (const { id, reason, applies } of [...authorizationPageRules, ...edgeRules, ...serviceRules])
    if (applies(construct)) yield { id: inRegionOf(construct, id), reason }
  if (construct instanceof AuthorizationPageContentStack)
    yield {
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${construct.page.stackName}:ExportsOutputFnGetAttBucket83908E77Arn063C8555/*]`,
      reason: 'The deployment writes to any key of the page’s own bucket.',
    }
}

/** A rule id as cdk-nag words it: a stack with a standby knows its region, and its partition by that. */
function inRegionOf(construct: IConstruct, id: string): string {
  const { region, partition } = Stack.of(construct)
  if (Token.isUnresolved(region)) return id
  return id.replace('<AWS::Region>', region).replace('<AWS::Partition>', partition)
}

/** Acknowledges the cdk-nag findings that are acceptable, for every construct of an app. */
export function acknowledgeRules(root: IConstruct): void {
  for (const construct of root.node.findAll())
    for (const acknowledgement of acknowledgementsOf(construct))
      Validations.of(construct).acknowledge(acknowledgement)
}
