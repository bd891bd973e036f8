import { App, CfnCondition, CfnResource, Fn, Stack } from 'aws-cdk-lib'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildStackModel } from '../../../../infra/local/template/build-model.ts'
import { readStackTemplates } from '../../../../infra/local/template/stack-templates.ts'
import { newDirectory } from '../../../support/new-directory.ts'

const directory = newDirectory()
const addresses = {
  region: 'us-east-1',
  accountId: '000000000000',
  apiUrl: 'http://127.0.0.1:3000',
  awsUrl: 'http://127.0.0.1:4566',
}
let counter = 0

/** Synthesizes a CDK stack, to which `fill` adds resources, and builds the local stack's model from it. */
function modelOf(fill: (stack: Stack) => void) {
  const app = new App({
    outdir: join(directory, String((counter += 1))),
    builtinCloudFormationValidation: false,
  })
  fill(new Stack(app, 'single'))
  return buildStackModel(readStackTemplates(app.synth()), addresses)
}

const resource =
  (type: string, properties: Record<string, unknown> = {}) =>
  (stack: Stack) =>
    new CfnResource(stack, 'Thing', { type, properties })

it.each<[string, (stack: Stack) => unknown, string]>([
  [
    'a resource type',
    resource('AWS::StepFunctions::StateMachine'),
    'the local stack cannot serve single/Thing (AWS::StepFunctions::StateMachine)',
  ],
  [
    'an intrinsic function',
    resource('AWS::SQS::Queue', { QueueName: { 'Fn::Cidr': ['10.0.0.0/8', 1, 8] } }),
    'single uses Fn::Cidr, which the local stack does not know',
  ],
  [
    'a condition',
    (stack) => {
      const { cfnOptions } = resource('AWS::SQS::Queue')(stack)
      cfnOptions.condition = new CfnCondition(stack, 'Yes', { expression: Fn.conditionEquals(1, 1) })
    },
    'single/Thing has a condition',
  ],
  [
    'an attribute of Fn::GetAtt',
    resource('AWS::SQS::Queue', { QueueName: { 'Fn::GetAtt': ['Thing', 'Color'] } }),
    'cannot tell',
  ],
  [
    'a managed policy',
    resource('AWS::IAM::Role', { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] }),
    'does not know what arn:aws:iam::aws:policy/AdministratorAccess of single/Thing grants',
  ],
  [
    'an authorizer',
    resource('AWS::ApiGatewayV2::Route', { RouteKey: 'GET /', Target: 'x', AuthorizationType: 'JWT' }),
    'AuthorizationType of single/Thing',
  ],
  [
    'a route with a path wildcard',
    resource('AWS::ApiGatewayV2::Route', { RouteKey: 'GET /files/{proxy+}' }),
    'RouteKey of single/Thing: any method, or any path',
  ],
])(
  'the local stack refuses a template by the name of the unsupported feature: %s',
  (_name, fill, message) => {
    expect(() => modelOf((stack) => void fill(stack))).toThrow(message)
  },
)
