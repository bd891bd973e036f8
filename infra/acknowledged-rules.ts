import { Stack, Validations } from 'aws-cdk-lib'
import { CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnRule } from 'aws-cdk-lib/aws-events'
import { CfnPolicy } from 'aws-cdk-lib/aws-iam'
import { CfnEventSourceMapping, CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnQueue } from 'aws-cdk-lib/aws-sqs'
import type { IConstruct } from 'constructs'
import { pageAcknowledgements } from './acknowledged-page-rules.ts'
import type { Acknowledgement } from './acknowledgement.ts'

const signingKeyReason =
  'Signing keys come and go at run time, so no ARN of theirs is known here: the statements hold only for keys that carry this deployment’s tag.'

const acknowledgements: Acknowledgement[] = [
  ...pageAcknowledgements,
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:kms:<AWS::Region>:<AWS::AccountId>:key/*]',
    reason: signingKeyReason,
    applies: (construct) => construct instanceof CfnPolicy,
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason:
      'CreateKey has no ARN to name before the key exists and demands this deployment’s tag instead; ListKeys knows no resources. It is how a key is found whose maker died.',
    applies: (construct) =>
      construct instanceof CfnPolicy && construct.node.path.includes('/rotate-signing-keys/'),
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'ListKeys knows no resources; the auditor looks for signing keys that no record knows.',
    applies: (construct) => construct instanceof CfnPolicy && construct.node.path.includes('/Auditor/'),
  },
  {
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'X-Ray’s actions know no resources; the functions have them only where the knob `tracing` is on.',
    applies: (construct) => construct instanceof CfnPolicy && reachesAllOnlyToTrace(construct),
  },
  {
    id: 'Serverless::Serverless-EventBusDLQ',
    reason:
      'A call by the clock that cannot be delivered is worth nothing a minute later, when the next one does what is due; the alarm on an overdue rotation tells if they all fail.',
    applies: (construct) => construct instanceof CfnRule && construct.scheduleExpression !== undefined,
  },
  {
    id: 'AwsSolutions::AwsSolutions-APIG1',
    reason:
      'Every function writes one structured line a request, with the request id, route, status and duration: an access log would repeat it at the price of a quarter of the request.',
    applies: (construct) => construct instanceof CfnStage,
  },
  {
    id: 'Serverless::Serverless-APIGWAccessLogging',
    reason: 'As AwsSolutions-APIG1: the functions log each request themselves.',
    applies: (construct) => construct instanceof CfnStage,
  },
  {
    id: 'AwsSolutions::AwsSolutions-APIG4',
    reason:
      'The access_token is opaque and names its session, which the function reads together with its data in one round trip; an authorizer would add a second one. A test holds every route to endpoint() or to the list of public ones.',
    applies: (construct) => construct instanceof CfnRoute,
  },
  {
    id: 'Serverless::Serverless-SQSRedrivePolicy',
    reason: 'This is the dead-letter queue itself; messages wait in it for a person, under an alarm.',
    applies: (construct) =>
      construct instanceof CfnQueue && /-dead-letters$/.test(construct.node.scope?.node.id ?? ''),
  },
  {
    id: 'Serverless::Serverless-LambdaDLQ',
    reason:
      'A function’s own dead-letter target serves asynchronous invocations. Endpoints are invoked synchronously, events come from queues with dead-letter queues, and a scheduled run that fails is made up for by the next one and raises an alarm.',
    applies: (construct) => construct instanceof CfnFunction,
  },
  {
    id: 'Serverless::Serverless-LambdaEventSourceMappingDestination',
    reason:
      'An SQS source takes no failure destination (it is for streams); the queue has its dead-letter queue.',
    applies: (construct) => construct instanceof CfnEventSourceMapping,
  },
  {
    id: 'Serverless::Serverless-LambdaTracing',
    reason:
      'Tracing is switched on with the knob `tracing`; at full load it would cost more than the requests.',
    applies: (construct) => construct instanceof CfnFunction,
  },
]

function reachesAllOnlyToTrace(policy: CfnPolicy): boolean {
  const { Statement: statements } = Stack.of(policy).resolve(policy.policyDocument) as {
    Statement: { Action: string | string[]; Resource: unknown }[]
  }
  return statements
    .filter(({ Resource: resource }) => [resource].flat().includes('*'))
    .flatMap(({ Action: action }) => action)
    .every((action) => action.startsWith('xray:'))
}

/** Tells the checks which of their rules do not hold, construct by construct, each with its reason. */
export function acknowledgeRules(root: IConstruct): void {
  for (const construct of root.node.findAll()) {
    for (const { id, reason, applies } of acknowledgements) {
      if (applies(construct)) Validations.of(construct).acknowledge({ id, reason })
    }
  }
}
