import { App, CfnCondition, CfnOutput, CfnResource, Fn, Stack } from 'aws-cdk-lib'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { buildStackModel } from '../../../../infra/local/template/build-model.ts'
import { readStackTemplates } from '../../../../infra/local/template/stack-templates.ts'
import { buildFixtureApp } from '../fixture/app.ts'

const directory = mkdtempSync(join(tmpdir(), 'assembly-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const addresses = {
  region: 'us-east-1',
  accountId: '000000000000',
  apiUrl: 'http://127.0.0.1:3000',
  awsUrl: 'http://127.0.0.1:4566',
}
let counter = 0

/** Builds the model of a stack that contains only what `fill` creates. */
function modelOf(fill: (stack: Stack) => void) {
  const app = new App({
    outdir: join(directory, String((counter += 1))),
    builtinCloudFormationValidation: false,
  })
  fill(new Stack(app, 'single'))
  return buildStackModel(readStackTemplates(app.synth()), addresses)
}

describe('the model of a synthesized application', () => {
  const templates = readStackTemplates(buildFixtureApp(join(directory, 'fixture')).synth())
  const model = buildStackModel(templates, addresses)
  const functionNamed = (name: string) => model.functions.find((item) => item.name === name)

  it('the stack model resolves environment variables across stacks, with the local addresses', () => {
    const [table] = model.tables
    const [key] = model.keys
    expect(functionNamed('echo')?.environment).toEqual({
      TABLE: table?.name,
      TABLE_ARN: table?.arn,
      KEY: key?.keyId,
      BASE_URL: 'http://127.0.0.1:3000',
      STAGE_URL: 'http://127.0.0.1:3000/',
    })
  })

  it('the stack model has the bundle, the limits and the policies of a function', () => {
    const echo = functionNamed('echo')
    expect(echo).toMatchObject({
      handler: 'probe.echo',
      timeoutSeconds: 5,
      memoryMegabytes: 256,
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:echo',
    })
    expect(existsSync(join(echo?.codeDirectory ?? '', 'probe.mjs'))).toBe(true)
    const [statement] = echo?.policies.flatMap((policy) => policy.Statement) ?? []
    expect(statement).toMatchObject({
      Effect: 'Allow',
      Resource: [model.tables[0]?.arn, `${model.tables[0]?.arn ?? ''}/index/*`],
    })
    expect(functionNamed('show')?.policies).toEqual([])
  })

  it('the stack model has each route with its function, and the CORS configuration', () => {
    const show = functionNamed('show')?.logicalId
    expect(model.routes).toContainEqual({ routeKey: 'GET /things/{id}', functionLogicalId: show })
    expect(model.cors).toEqual({
      allowOrigins: ['http://127.0.0.1:3001', 'https://*'],
      allowMethods: ['GET', 'POST'],
      allowHeaders: ['authorization', 'content-type'],
      exposeHeaders: ['x-request-id'],
      maxAgeSeconds: 600,
      allowCredentials: false,
    })
  })

  it('the stack model has each table as an input of CreateTable', () => {
    expect(model.tables).toHaveLength(1)
    expect(model.tables[0]).toMatchObject({
      ttlAttribute: 'ttl',
      createTableInput: {
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [{ IndexName: 'by-instant', Projection: { ProjectionType: 'KEYS_ONLY' } }],
      },
    })
  })

  it('the stack model has queues, dead-letter queues, event sources, rules and schedules', () => {
    const queue = model.queues.find(({ redrive }) => redrive !== undefined)
    expect(queue).toMatchObject({
      url: `http://127.0.0.1:4566/000000000000/${queue?.name ?? ''}`,
      redrive: { deadLetterArn: 'arn:aws:sqs:us-east-1:000000000000:fixture-refused', maxReceiveCount: 3 },
    })
    expect(queue?.policies).toHaveLength(1)
    expect(model.eventSources).toMatchObject([
      { queueArn: queue?.arn, batchSize: 5, reportBatchItemFailures: true, enabled: true },
    ])
    expect(model.rules).toMatchObject([
      { busName: 'fixture', pattern: { 'detail-type': ['user.registered'] }, targets: [{ arn: queue?.arn }] },
      { busName: 'default', schedule: 'rate(1 hour)', targets: [{ arn: functionNamed('apply')?.arn }] },
    ])
    expect(model.outputs).toEqual({ EventBusName: 'fixture' })
  })

  it('the stack model has the same resource names at every start', () => {
    expect(buildStackModel(templates, addresses)).toEqual(model)
  })
})

describe('a value', () => {
  it.each<[string, () => unknown, string]>([
    ['Ref', () => Fn.ref('AWS::Region'), 'us-east-1'],
    ['Sub', () => Fn.sub('${AWS::AccountId}-${!x}-${y}', { y: 'z' }), '000000000000-${x}-z'],
    ['Join and Select', () => Fn.join('-', ['a', Fn.select(1, ['b', Fn.ref('AWS::Partition')])]), 'a-aws'],
    ['Split', () => Fn.select(2, Fn.split('/', Fn.sub('a/b/${AWS::StackName}'))), 'single'],
  ])('the intrinsic function %s is resolved', (_name, value, resolved) => {
    const model = modelOf((stack) => new CfnOutput(stack, 'Value', { value: value() as string }))
    expect(model.outputs.Value).toBe(resolved)
  })
})

describe('a template that cannot be served', () => {
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
      resource('AWS::ApiGatewayV2::Route', { RouteKey: 'GET /', AuthorizationType: 'JWT' }),
      'single/Thing has an authorizer (JWT)',
    ],
    [
      'a greedy route',
      resource('AWS::ApiGatewayV2::Route', { RouteKey: 'GET /files/{proxy+}' }),
      'single/Thing takes any method or path',
    ],
    [
      'a Kinesis event source',
      resource('AWS::Lambda::EventSourceMapping', { FunctionName: 'x', EventSourceArn: 'arn:aws:kinesis:x' }),
      'which is no queue',
    ],
  ])(
    'a template with %s that the local stack does not support is refused by name',
    (_name, fill, message) => {
      expect(() => modelOf((stack) => void fill(stack))).toThrow(message)
    },
  )

  it('a CloudWatch dashboard in the template is ignored, not refused', () => {
    expect(modelOf((stack) => void resource('AWS::CloudWatch::Dashboard')(stack)).functions).toEqual([])
  })
})
