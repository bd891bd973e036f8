import * as v from 'valibot'
import { Flag, Numeric, Policy, Tags, Text, Texts, Unknown } from './reader.ts'
import type { PolicyStatement, TemplateReader } from './reader.ts'

// Capacity settings are left out: on-demand tables ignore them, and DynamoDB Local rejects those that it does
// not know.
const Indexes = v.optional(
  v.array(v.object({ IndexName: v.unknown(), KeySchema: v.unknown(), Projection: v.unknown() })),
)

const Table = v.object({
  AttributeDefinitions: v.unknown(),
  KeySchema: v.unknown(),
  GlobalSecondaryIndexes: Indexes,
  TimeToLiveSpecification: v.optional(v.object({ AttributeName: v.optional(Text) })),
})

const Key = v.object({
  KeySpec: v.optional(Text, 'SYMMETRIC_DEFAULT'),
  KeyUsage: v.optional(Text, 'ENCRYPT_DECRYPT'),
  Description: v.optional(Text, ''),
  KeyPolicy: v.optional(Policy),
  Tags,
})

const Queue = v.object({
  FifoQueue: Flag,
  ContentBasedDeduplication: Unknown,
  VisibilityTimeout: v.optional(Numeric, 30),
  DelaySeconds: v.optional(Numeric, 0),
  MessageRetentionPeriod: v.optional(Numeric, 345_600),
  ReceiveMessageWaitTimeSeconds: v.optional(Numeric, 0),
  RedrivePolicy: v.optional(
    v.object({ deadLetterTargetArn: Text, maxReceiveCount: v.optional(Numeric, 10) }),
  ),
})

const BusPolicy = v.object({ EventBusName: Text, Statement: v.custom<PolicyStatement>(() => true) })

const QueuePolicy = v.object({ Queues: Texts, PolicyDocument: Policy })

const Target = v.object({
  Id: Text,
  Arn: Text,
  Input: v.optional(Text),
  InputPath: Unknown,
  InputTransformer: Unknown,
  DeadLetterConfig: v.optional(v.object({ Arn: v.optional(Text) })),
  SqsParameters: Unknown,
})

const Rule = v.object({
  EventBusName: v.optional(Text, 'default'),
  EventPattern: v.optional(v.record(v.string(), v.unknown())),
  ScheduleExpression: v.optional(Text),
  State: v.optional(Text),
  Targets: v.optional(v.array(Target), []),
})

const Archive = v.object({
  SourceArn: Text,
  EventPattern: v.optional(v.record(v.string(), v.unknown()), {}),
  RetentionDays: v.optional(v.pipe(Numeric, v.literal(0, 'the local stack keeps archived events for ever'))),
})

/** Reads the definitions of the DynamoDB tables as inputs of CreateTable. */
export function readTables(reader: TemplateReader) {
  return reader.read('AWS::DynamoDB::GlobalTable', Table).map(({ ref, attribute, properties }) => {
    const { TimeToLiveSpecification: timeToLive, ...keysAndIndexes } = properties
    const createTableInput: Record<string, unknown> = {
      TableName: ref,
      BillingMode: 'PAY_PER_REQUEST',
      ...keysAndIndexes,
    }
    return { name: ref, arn: attribute('Arn'), createTableInput, ttlAttribute: timeToLive?.AttributeName }
  })
}
export type TableModel = ReturnType<typeof readTables>[number]

/** Reads the KMS keys in the templates. */
export const readKeys = (reader: TemplateReader) =>
  reader.read('AWS::KMS::Key', Key).map(({ ref, attribute, properties }) => ({
    keyId: ref,
    arn: attribute('Arn'),
    keySpec: properties.KeySpec,
    keyUsage: properties.KeyUsage,
    description: properties.Description,
    keyPolicy: properties.KeyPolicy,
    tags: properties.Tags,
  }))
export type KeyModel = ReturnType<typeof readKeys>[number]

/** Reads the SQS queues, each with its queue policies and its dead-letter queue. */
export function readQueues(reader: TemplateReader) {
  const policies = reader.read('AWS::SQS::QueuePolicy', QueuePolicy).map(({ properties }) => properties)
  return reader.read('AWS::SQS::Queue', Queue).map(({ ref: url, attribute, properties }) => {
    const { RedrivePolicy: redrive } = properties
    return {
      name: attribute('QueueName'),
      url,
      arn: attribute('Arn'),
      fifo: properties.FifoQueue,
      visibilityTimeoutSeconds: properties.VisibilityTimeout,
      delaySeconds: properties.DelaySeconds,
      retentionSeconds: properties.MessageRetentionPeriod,
      /** How long ReceiveMessage waits for a message unless it says otherwise. */
      receiveWaitSeconds: properties.ReceiveMessageWaitTimeSeconds,
      redrive: redrive && {
        deadLetterArn: redrive.deadLetterTargetArn,
        maxReceiveCount: redrive.maxReceiveCount,
      },
      policies: policies
        .filter(({ Queues: urls }) => urls.includes(url))
        .map(({ PolicyDocument }) => PolicyDocument),
    }
  })
}
export type QueueModel = ReturnType<typeof readQueues>[number]

/** Reads the event buses in the templates, with the policies that name them. */
export function readBuses(reader: TemplateReader) {
  const policies = reader.read('AWS::Events::EventBusPolicy', BusPolicy).map(({ properties }) => properties)
  return reader.read('AWS::Events::EventBus', v.object({})).map(({ ref: name, attribute }) => ({
    name,
    arn: attribute('Arn'),
    policy: {
      Statement: policies
        .filter(({ EventBusName }) => EventBusName === name)
        .flatMap(({ Statement }) => Statement),
    },
  }))
}

/** Reads the event archives. A retention time is refused: the local stack deletes no archived event. */
export const readArchives = (reader: TemplateReader) =>
  reader.read('AWS::Events::Archive', Archive).map(({ ref, attribute, properties }) => ({
    name: ref,
    arn: attribute('Arn'),
    busName: busNameOf(properties.SourceArn),
    pattern: properties.EventPattern,
  }))
export type ArchiveModel = ReturnType<typeof readArchives>[number]

const busNameOf = (arnOrName: string): string => arnOrName.replace(/^arn:.*event-bus\//, '')

/** Reads the EventBridge rules, both those with a pattern and those with a schedule. */
export const readRules = (reader: TemplateReader) =>
  reader.read('AWS::Events::Rule', Rule).map(({ ref, attribute, properties }) => {
    const { EventBusName: bus, EventPattern: pattern, ScheduleExpression: schedule } = properties
    return {
      name: ref,
      arn: attribute('Arn'),
      busName: busNameOf(bus),
      enabled: properties.State !== 'DISABLED',
      pattern,
      /** Schedule of the rule, such as `rate(1 hour)`. */
      schedule,
      targets: properties.Targets.map(readTarget),
    }
  })
export type RuleModel = ReturnType<typeof readRules>[number]

export interface RuleTarget {
  id: string
  arn: string
  /** Constant JSON text that the target gets instead of the event. */
  input?: string | undefined
  deadLetterArn?: string | undefined
}

const readTarget = (target: v.InferOutput<typeof Target>): RuleTarget => ({
  id: target.Id,
  arn: target.Arn,
  input: target.Input,
  deadLetterArn: target.DeadLetterConfig?.Arn,
})
