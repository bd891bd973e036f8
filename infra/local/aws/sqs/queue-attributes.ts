import * as v from 'valibot'
import { Policy } from '../../template/reader.ts'
import type { QueueModel } from '../../model.ts'
import { compilePolicies } from '../iam/policy.ts'
import { AwsError } from '../wire/http-messages.ts'

const wholeNumber = (minimum: number, maximum: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number), v.minValue(minimum), v.maxValue(maximum))
const flag = v.picklist(['true', 'false'])
const RedrivePolicy = v.object({
  deadLetterTargetArn: v.string(),
  maxReceiveCount: v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.integer(), v.minValue(1)),
})

/** The attributes of a queue that a program may set, with SQS's ranges (SQS: CreateQueue). */
const attributes = {
  VisibilityTimeout: wholeNumber(0, 43_200),
  DelaySeconds: wholeNumber(0, 900),
  MessageRetentionPeriod: wholeNumber(60, 1_209_600),
  ReceiveMessageWaitTimeSeconds: wholeNumber(0, 20),
  FifoQueue: flag,
  // Encryption with SQS's own keys changes nothing that a program could see.
  SqsManagedSseEnabled: flag,
  Policy: v.string(),
  RedrivePolicy: v.string(),
} satisfies Record<string, v.GenericSchema>

type AttributeName = keyof typeof attributes

/** Returns the queue with the given attributes. Throws SQS's error for an attribute that it cannot have. */
export function withAttributes(queue: QueueModel, given: Record<string, string>): QueueModel {
  const seconds = (name: AttributeName, otherwise: number) =>
    given[name] === undefined ? otherwise : (readAttribute(name, given[name]) as number)
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(attributes, name)) refuse('InvalidAttributeName', `Unknown Attribute ${name}.`)
    readAttribute(name as AttributeName, given[name] ?? '')
  }
  if (given['FifoQueue'] !== undefined && (given['FifoQueue'] === 'true') !== queue.fifo)
    refuse('InvalidAttributeValue', 'The name of a FIFO queue, and only of that, ends with .fifo.')
  return {
    ...queue,
    visibilityTimeoutSeconds: seconds('VisibilityTimeout', queue.visibilityTimeoutSeconds),
    delaySeconds: seconds('DelaySeconds', queue.delaySeconds),
    retentionSeconds: seconds('MessageRetentionPeriod', queue.retentionSeconds),
    receiveWaitSeconds: seconds('ReceiveMessageWaitTimeSeconds', queue.receiveWaitSeconds),
    policies: given['Policy'] === undefined ? queue.policies : readPolicies(queue.name, given['Policy']),
    redrive: given['RedrivePolicy'] === undefined ? queue.redrive : readRedrive(given['RedrivePolicy']),
  }
}

/** A queue's attributes that a program may set, as SQS describes them. */
export const describeAttributes = (queue: QueueModel): Record<string, string> => ({
  VisibilityTimeout: String(queue.visibilityTimeoutSeconds),
  DelaySeconds: String(queue.delaySeconds),
  MessageRetentionPeriod: String(queue.retentionSeconds),
  ReceiveMessageWaitTimeSeconds: String(queue.receiveWaitSeconds),
  ...(queue.fifo && { FifoQueue: 'true' }),
  ...(queue.policies[0] && { Policy: JSON.stringify(queue.policies[0]) }),
  ...(queue.redrive && {
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: queue.redrive.deadLetterArn,
      maxReceiveCount: queue.redrive.maxReceiveCount,
    }),
  }),
})

function readAttribute(name: AttributeName, text: string): unknown {
  const parsed = v.safeParse(attributes[name], text)
  return parsed.success ? parsed.output : refuseValue(name)
}

/** Reads a policy; an empty text stands for none. */
function readPolicies(name: string, text: string): QueueModel['policies'] {
  if (text === '') return []
  try {
    const policies = [v.parse(Policy, JSON.parse(text))]
    compilePolicies(policies, `queue ${name}`)
    return policies
  } catch {
    return refuseValue('Policy')
  }
}

function readRedrive(text: string): QueueModel['redrive'] {
  if (text === '') return undefined
  try {
    const { deadLetterTargetArn, maxReceiveCount } = v.parse(RedrivePolicy, JSON.parse(text))
    return { deadLetterArn: deadLetterTargetArn, maxReceiveCount }
  } catch {
    return refuseValue('RedrivePolicy')
  }
}

const refuseValue = (name: string): never =>
  refuse('InvalidAttributeValue', `Invalid value for the parameter ${name}.`)

function refuse(code: string, message: string): never {
  throw new AwsError(code, message, { queryCode: code })
}
