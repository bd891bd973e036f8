import { createHash } from 'node:crypto'

/** What CloudFormation would know of a created resource: its `Ref` and its `Fn::GetAtt` attributes. */
export interface Identity {
  ref: string
  attributes: Record<string, string>
}

/** Where the local stack answers: what stands in for the addresses that AWS would give. */
export interface Addresses {
  region: string
  accountId: string
  /** Without a trailing slash. */
  apiUrl: string
  /** Without a trailing slash. */
  awsUrl: string
}

/** One resource on its way to an identity. */
export interface Unnamed {
  stackName: string
  logicalId: string
  /** The resolved text of a property, or undefined where the template does not give it. */
  property: (name: string) => string | undefined
}

type Identify = (resource: Unnamed, addresses: Addresses) => Identity

/** The API's id, which AWS would draw; the same for the same stack. */
export const deriveApiId = (resource: Pick<Unnamed, 'stackName' | 'logicalId'>): string =>
  fingerprint(resource).slice(0, 10)

/** Identities of every type that another resource may point to; deterministic, so that they survive a restart. */
export const identities: Record<string, Identify> = {
  'AWS::Lambda::Function': (resource, at) => {
    const name = resource.property('FunctionName') ?? generatedName(resource, 64)
    return { ref: name, attributes: { Arn: `arn:aws:lambda:${at.region}:${at.accountId}:function:${name}` } }
  },
  'AWS::Lambda::Version': (resource, at) => {
    const arn = `${functionArn(resource, at)}:1`
    return { ref: arn, attributes: { FunctionArn: arn, Version: '1' } }
  },
  'AWS::Lambda::Alias': (resource, at) => {
    const arn = `${functionArn(resource, at)}:${resource.property('Name') ?? 'live'}`
    return { ref: arn, attributes: { AliasArn: arn } }
  },
  'AWS::IAM::Role': (resource, at) => {
    const name = resource.property('RoleName') ?? generatedName(resource, 64)
    return { ref: name, attributes: { Arn: `arn:aws:iam::${at.accountId}:role/${name}`, RoleId: name } }
  },
  'AWS::DynamoDB::Table': identifyTable,
  'AWS::DynamoDB::GlobalTable': identifyTable,
  'AWS::KMS::Key': (resource, at) => {
    const id = fingerprint(resource).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
    return { ref: id, attributes: { Arn: `arn:aws:kms:${at.region}:${at.accountId}:key/${id}`, KeyId: id } }
  },
  'AWS::SQS::Queue': (resource, at) => {
    const suffix = resource.property('FifoQueue') === 'true' ? '.fifo' : ''
    const name = resource.property('QueueName') ?? `${generatedName(resource, 75)}${suffix}`
    const url = `${at.awsUrl}/${at.accountId}/${name}`
    const arn = `arn:aws:sqs:${at.region}:${at.accountId}:${name}`
    return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } }
  },
  'AWS::Events::EventBus': (resource, at) => {
    const name = resource.property('Name') ?? generatedName(resource, 256)
    return {
      ref: name,
      attributes: { Arn: `arn:aws:events:${at.region}:${at.accountId}:event-bus/${name}`, Name: name },
    }
  },
  'AWS::Events::Rule': (resource, at) => {
    const name = resource.property('Name') ?? generatedName(resource, 64)
    const bus = resource.property('EventBusName')
    const path = bus === undefined || bus === 'default' ? name : `${bus.split('/').at(-1) ?? bus}/${name}`
    return { ref: name, attributes: { Arn: `arn:aws:events:${at.region}:${at.accountId}:rule/${path}` } }
  },
  'AWS::Scheduler::Schedule': (resource, at) => {
    const name = resource.property('Name') ?? generatedName(resource, 64)
    const group = resource.property('GroupName') ?? 'default'
    return {
      ref: name,
      attributes: { Arn: `arn:aws:scheduler:${at.region}:${at.accountId}:schedule/${group}/${name}` },
    }
  },
  'AWS::ApiGatewayV2::Api': (resource, at) => {
    const id = deriveApiId(resource)
    return { ref: id, attributes: { ApiId: id, ApiEndpoint: at.apiUrl } }
  },
  'AWS::ApiGatewayV2::Integration': (resource) => ({
    ref: fingerprint(resource).slice(0, 7),
    attributes: {},
  }),
  'AWS::ApiGatewayV2::Route': (resource) => ({ ref: fingerprint(resource).slice(0, 7), attributes: {} }),
  'AWS::ApiGatewayV2::Stage': (resource) => ({
    ref: resource.property('StageName') ?? '$default',
    attributes: {},
  }),
  'AWS::Lambda::EventSourceMapping': (resource) => ({
    ref: fingerprint(resource).slice(0, 32),
    attributes: {},
  }),
  'AWS::Logs::LogGroup': (resource, at) => {
    const name = resource.property('LogGroupName') ?? generatedName(resource, 512)
    return { ref: name, attributes: { Arn: `arn:aws:logs:${at.region}:${at.accountId}:log-group:${name}:*` } }
  },
  'AWS::SNS::Topic': (resource, at) => {
    const name = resource.property('TopicName') ?? generatedName(resource, 256)
    const arn = `arn:aws:sns:${at.region}:${at.accountId}:${name}`
    return { ref: arn, attributes: { TopicArn: arn, TopicName: name } }
  },
  'AWS::SES::ConfigurationSet': (resource) => ({
    ref: resource.property('Name') ?? generatedName(resource, 64),
    attributes: {},
  }),
  'AWS::SES::EmailIdentity': (resource) => ({
    ref: resource.property('EmailIdentity') ?? '',
    attributes: {},
  }),
  'AWS::S3::Bucket': (resource) => {
    const name = resource.property('BucketName') ?? generatedName(resource, 63).toLowerCase()
    return { ref: name, attributes: { Arn: `arn:aws:s3:::${name}` } }
  },
}

function identifyTable(resource: Unnamed, at: Addresses): Identity {
  const name = resource.property('TableName') ?? generatedName(resource, 255)
  return { ref: name, attributes: { Arn: `arn:aws:dynamodb:${at.region}:${at.accountId}:table/${name}` } }
}

// A version or an alias names its function by its name or its ARN.
function functionArn(resource: Unnamed, at: Addresses): string {
  const reference = resource.property('FunctionName') ?? ''
  return reference.startsWith('arn:')
    ? reference
    : `arn:aws:lambda:${at.region}:${at.accountId}:function:${reference}`
}

const fingerprint = ({ stackName, logicalId }: Pick<Unnamed, 'stackName' | 'logicalId'>): string =>
  createHash('sha256').update(`${stackName}/${logicalId}`).digest('hex')

// CloudFormation names what the template leaves unnamed STACK-LOGICALID-RANDOM; without the random part it is stable.
const generatedName = (resource: Unnamed, atMost: number): string =>
  `${resource.stackName}-${resource.logicalId}`.slice(0, atMost)
