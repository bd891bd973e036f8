import { createHash } from 'node:crypto'

/** The values of a resource that templates can use: its `Ref`, and its attributes for `Fn::GetAtt`. */
export interface Identity {
  ref: string
  attributes: Record<string, string>
}

/** The addresses of the local stack, which replace those that AWS would assign. */
export interface Addresses {
  region: string
  accountId: string
  /** URL of the local API, without a trailing slash. */
  apiUrl: string
  /** URL of the local AWS endpoint, without a trailing slash. */
  awsUrl: string
}

/** A resource whose name a caller wants to know. */
export interface UnnamedResource {
  stackName: string
  logicalId: string
  type: string
  /** Returns the resolved text of a property, or undefined if the template does not set it. */
  property: (name: string) => string | undefined
}

/**
 * Resource types whose `Ref` is the resource's name. For each: the property that sets the name, the ARN's
 * pattern after `arn:aws:`, and the name's maximum length.
 */
const namedTypes: Record<string, [property: string, arn?: string, maxLength?: number]> = {
  'AWS::DynamoDB::GlobalTable': ['TableName', 'dynamodb:REGION:ACCOUNT:table/NAME'],
  'AWS::Events::Archive': ['ArchiveName', 'events:REGION:ACCOUNT:archive/NAME', 48],
  'AWS::Events::EventBus': ['Name', 'events:REGION:ACCOUNT:event-bus/NAME'],
  'AWS::IAM::Role': ['RoleName', 'iam::ACCOUNT:role/NAME', 64],
  'AWS::Lambda::Function': ['FunctionName', 'lambda:REGION:ACCOUNT:function:NAME', 64],
  'AWS::Logs::LogGroup': ['LogGroupName', 'logs:REGION:ACCOUNT:log-group:NAME:*'],
}

type Identify = (resource: UnnamedResource, addresses: Addresses) => Identity

/** Further resource types, each with a function that returns the `Ref` value and the attributes. */
const otherTypes: Record<string, Identify> = {
  'AWS::ApiGatewayV2::Api': (resource, { apiUrl }) => {
    const id = hash(resource).slice(0, 10)
    return { ref: id, attributes: { ApiId: id, ApiEndpoint: apiUrl } }
  },
  'AWS::ApiGatewayV2::Integration': (resource) => ({ ref: hash(resource), attributes: {} }),
  'AWS::Events::Rule': (resource, at) => {
    const name = resource.property('Name') ?? generateName(resource, 64)
    const bus = resource.property('EventBusName')?.split('/').at(-1) ?? 'default'
    const path = bus === 'default' ? name : `${bus}/${name}`
    return { ref: name, attributes: { Arn: arnOf('events:REGION:ACCOUNT:rule/NAME', path, at) } }
  },
  'AWS::KMS::Key': (resource, at) =>
    resource.property('MultiRegion') === 'true'
      ? identifyKey(`mrk-${hash(resource).slice(0, 32)}`, at)
      : identifyKey(hash(resource).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'), at),
  'AWS::S3::Bucket': (resource, at) => {
    const name = generateName(resource, 63).toLowerCase()
    const attributes = { Arn: arnOf('s3:::NAME', name, at), RegionalDomainName: `${at.awsUrl}/${name}` }
    return { ref: name, attributes }
  },
  'AWS::SQS::Queue': (resource, at) => {
    const suffix = resource.property('FifoQueue') === 'true' ? '.fifo' : ''
    const name = resource.property('QueueName') ?? `${generateName(resource, 75)}${suffix}`
    const url = `${at.awsUrl}/${at.accountId}/${name}`
    const arn = arnOf('sqs:REGION:ACCOUNT:NAME', name, at)
    return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } }
  },
}

const identifyKey = (id: string, at: Addresses): Identity => ({
  ref: id,
  attributes: { Arn: arnOf('kms:REGION:ACCOUNT:key/NAME', id, at), KeyId: id },
})

/** Returns `Ref` and attributes of a resource, which never change; undefined for an unknown type. */
export function identifyResource(resource: UnnamedResource, addresses: Addresses): Identity | undefined {
  const named = namedTypes[resource.type]
  if (named === undefined) return otherTypes[resource.type]?.(resource, addresses)
  const [property, arn, maxLength = 255] = named
  const name = resource.property(property) ?? generateName(resource, maxLength)
  const attributes = { [property]: name, ...(arn === undefined ? {} : { Arn: arnOf(arn, name, addresses) }) }
  return { ref: name, attributes }
}

const arnOf = (pattern: string, name: string, { region, accountId }: Addresses): string =>
  `arn:aws:${pattern
    .replace('REGION', region)
    .replace('ACCOUNT', accountId)
    .replace('NAME', () => name)}`

/** Returns a hash, the same at every start, in place of a text that AWS would generate at random. */
const hash = ({ stackName, logicalId }: UnnamedResource): string =>
  createHash('sha256').update(`${stackName}/${logicalId}`).digest('hex')

// CloudFormation names are STACK-LOGICALID-RANDOM. RANDOM is left out here, so that names never change.
const generateName = ({ stackName, logicalId }: UnnamedResource, maxLength: number): string =>
  `${stackName}-${logicalId}`.slice(0, maxLength)
