import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { KMSClient } from '@aws-sdk/client-kms'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SQSClient } from '@aws-sdk/client-sqs'
import { onTestFinished } from 'vitest'
import { openCallers } from '../../../../infra/local/aws/iam/callers.ts'
import { type AwsEndpoint, startAwsEndpoint } from '../../../../infra/local/aws/server.ts'
import { bindServer } from '../../../../infra/local/http/bind-server.ts'
import type { InvokeFunction } from '../../../../infra/local/runtime/runtime.ts'
import { openQuirks, type Quirk, type Quirks } from '../../../../infra/local/quirks.ts'
import type {
  EventSourceModel,
  FunctionModel,
  PolicyStatement,
  QueueModel,
  RuleModel,
  StackModel,
} from '../../../../infra/local/model.ts'

export const region = 'eu-central-1'
export const accountId = '123456789012'

/** Makes an ARN in the test stack's account and region. */
export function arnOf(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${accountId}:${resource}`
}

/** Describes a function of a test stack. The function's role has these policy statements. */
export function functionModel(name: string, statements: PolicyStatement[] = []): FunctionModel {
  return {
    name,
    arn: arnOf('lambda', `function:${name}`),
    codeDirectory: '/nowhere',
    handler: 'index.handler',
    environment: {},
    timeoutSeconds: 3,
    memoryMegabytes: 256,
    roleArn: `arn:aws:iam::${accountId}:role/${name}-role`,
    roleTags: {},
    policies: statements.length > 0 ? [{ Version: '2012-10-17', Statement: statements }] : [],
  }
}

/** Describes a queue of a test stack; by default, the queue has no policy. */
export function queueModel(name: string, changes: Partial<QueueModel> = {}): QueueModel {
  return {
    name,
    url: `https://sqs.${region}.amazonaws.com/${accountId}/${name}`,
    arn: arnOf('sqs', name),
    fifo: name.endsWith('.fifo'),
    visibilityTimeoutSeconds: 30,
    delaySeconds: 0,
    retentionSeconds: 345_600,
    receiveWaitSeconds: 0,
    redrive: undefined,
    policies: [],
    ...changes,
  }
}

/** Describes a rule on the bus `events` of a test stack. */
export function ruleModel(name: string, changes: Partial<RuleModel> = {}): RuleModel {
  return {
    name,
    arn: arnOf('events', `rule/events/${name}`),
    busName: 'events',
    enabled: true,
    pattern: undefined,
    schedule: undefined,
    targets: [],
    ...changes,
  }
}

/** Describes an event source mapping of a test stack, from a queue to the function `worker`. */
export function eventSourceModel(
  queue: QueueModel,
  changes: Partial<EventSourceModel> = {},
): EventSourceModel {
  return { queueArn: queue.arn, functionName: 'worker', batchSize: 10, maximumConcurrency: 10, ...changes }
}

/** The permissions with which Lambda delivers a queue's messages to the queue's function. */
export const consume: PolicyStatement = {
  Effect: 'Allow',
  Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
  Resource: '*',
}

/** Creates the statement in a queue's policy that lets a rule send to the queue. */
export function allowRule(queueName: string, ruleName: string): PolicyStatement {
  return {
    Effect: 'Allow',
    Principal: { Service: 'events.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: arnOf('sqs', queueName),
    Condition: { ArnEquals: { 'aws:SourceArn': arnOf('events', `rule/events/${ruleName}`) } },
  }
}

/** Describes a test stack with the bus `events`. `changes` replace members of the description. */
export function stackModel(changes: Partial<StackModel> = {}): StackModel {
  return {
    region,
    accountId,
    functions: [],
    roles: [],
    routes: [],
    apiId: 'local',
    apiName: 'api',
    tables: [],
    keys: [],
    queues: [],
    eventSources: [],
    buses: [{ name: 'events', arn: arnOf('events', 'event-bus/events'), policy: { Statement: [] } }],
    rules: [],
    archives: [],
    outputs: {},
    ...changes,
  }
}

/** Quirks of AWS for a test: those in `on` always happen, others never. Every random number is `draw`. */
export const alwaysBad = (on: Quirk[], draw = 0): Quirks => ({
  speed: 1,
  has: (quirk) => on.includes(quirk),
  draw: () => draw,
  happens: (quirk) => on.includes(quirk),
})

/**
 * Starts an AWS endpoint for one test. Returns AWS SDK clients with the credentials of the account's owner;
 * `as` returns clients with the credentials of a function.
 */
export async function startStack(
  model: StackModel,
  options: {
    dataDirectory?: string
    invoke?: InvokeFunction
    dynamodbEndpoint?: string
    report?: (line: string) => void
    quirks?: Quirks
  } = {},
) {
  const server = await bindServer(0, '')
  onTestFinished(() => server.close(0))
  const callers = openCallers(model)
  const endpoint = await startAwsEndpoint({
    server,
    model,
    callers,
    dynamodbEndpoint: options.dynamodbEndpoint ?? 'http://127.0.0.1:1',
    dataDirectory: options.dataDirectory,
    invoke: options.invoke ?? (async (_name, payload) => ({ payload })),
    quirks: options.quirks ?? openQuirks(),
    ...(options.report === undefined ? {} : { report: options.report }),
  })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= endpoint.close())
  onTestFinished(close)
  const as = (name: string) => {
    const found = model.functions.find((item) => item.name === name)
    if (found === undefined) throw new Error(`no function ${name}`)
    return clientsOf(endpoint, callers.credentialsFor(found))
  }
  return { endpoint, close, ...clientsOf(endpoint), as }
}

function clientsOf(
  endpoint: AwsEndpoint,
  credentials = { accessKeyId: 'AKIDOWNER', secretAccessKey: 'any' },
) {
  const config = { endpoint: endpoint.url, region, credentials, maxAttempts: 1 }
  return {
    kms: new KMSClient(config),
    sqs: new SQSClient(config),
    events: new EventBridgeClient(config),
    ses: new SESv2Client(config),
    lambda: new LambdaClient(config),
    dynamodb: new DynamoDBClient(config),
  }
}
