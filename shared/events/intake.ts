import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { consumedUnits, resetConsumedUnits } from '../db/consumed-units.ts'
import { requireEnv } from '../env.ts'
import { emitMetric } from '../emit-metric.ts'
import { countFailure, isUnavailable } from '../faults.ts'
import { runInvocation } from '../invocation.ts'
import { fieldErrors } from '../parse-input.ts'
import { errorSummary, log } from '../log.ts'
import { eventRecord, type EventRecord, type Outcome } from './event-record.ts'
import {
  commonRejections,
  OutOfOrderEvent,
  RejectedEvent,
  type RejectionReason,
  rejectionText,
} from './rejected-event.ts'

/** Description of an intake function: how it handles the events of one detail-type. */
export interface IntakeSpec<Detail extends v.GenericSchema> {
  detailType: string
  /** Schema of the event's `detail`; an event that does not match it is rejected. */
  detail: Detail
  /** Returns the business key: the same event has the same key whenever it is sent. */
  key: (detail: v.InferOutput<Detail>) => string
  /** Every rejection code that `apply` throws, besides the common ones. */
  rejections?: readonly RejectionReason[]
  /** Applies the event exactly once: `record` is written in the same transaction as the changes. */
  apply: (detail: v.InferOutput<Detail>, record: EventRecord) => Promise<Outcome>
}

/** The `handler` of an intake function's bundle, together with its description as data. */
export interface Intake {
  (event: SQSEvent, context: Context): Promise<SQSBatchResponse>
  readonly detailType: string
  readonly detail: v.GenericSchema
  readonly rejections: readonly RejectionReason[]
  readonly key: (detail: never) => string
  readonly apply: (detail: never, record: EventRecord) => Promise<Outcome>
}

const sqs = awsClient(new SQSClient(clientOptions()))

/** Number of receives after which an out-of-order event is moved to the dead-letter queue. */
const maxOutOfOrderReceives = 5

/**
 * Number of receives after which an event that fails for any other reason is moved to the dead-letter queue.
 * The queue's own limit is a little higher.
 */
const maxReceives = 20

const maxRetryDelaySeconds = 900

/** Time kept back for the call that delays or dead-letters an event that was not applied in time. */
const queueReserveMilliseconds = 7_000

/** Maximum number of characters of a dead letter's `reason`. */
const maxReasonLength = 1024

/**
 * Creates a function that applies events from its queue. A rejected event goes to the dead-letter queue at
 * once, whole, with the message attribute `reason`. An event that is out of order or met a temporary fault is
 * retried after growing pauses, and goes to the dead-letter queue after a limited number of tries.
 */
export function intake<Detail extends v.GenericSchema>(spec: IntakeSpec<Detail>): Intake {
  const processor = new BatchProcessor(EventType.SQS)
  const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const startedAt = performance.now()
    resetConsumedUnits()
    log.resetKeys()
    log.appendKeys({ request_id: context.awsRequestId, detail_type: spec.detailType })
    const answer = await processPartialResponse(
      event,
      (message: SQSRecord) => receive(spec, message, context),
      processor,
      { context, throwOnFullBatchFailure: false },
    )
    // Events of a batch are applied in parallel, so the consumed units are those of the whole batch.
    log.info('batch', {
      messages: event.Records.length,
      retried: answer.batchItemFailures.length,
      duration_ms: Math.round(performance.now() - startedAt),
      ...consumedUnits(),
    })
    return answer
  }
  const { detailType, detail, rejections = [], key, apply } = spec
  return Object.assign(handler, { detailType, detail, rejections, key, apply })
}

async function receive<Detail extends v.GenericSchema>(
  spec: IntakeSpec<Detail>,
  message: SQSRecord,
  context: Context,
): Promise<void> {
  try {
    const outcome = await runInvocation(context, queueReserveMilliseconds, () => applyMessage(spec, message))
    log.info('event', { message_id: message.messageId, outcome })
    emitMetric('Events', 1, { dimensions: { detail_type: spec.detailType, outcome } })
  } catch (error) {
    checkDeclared(spec.rejections ?? [], error)
    await giveUpOrRetry(message, error)
    emitMetric('Events', 1, { dimensions: { detail_type: spec.detailType, outcome: 'refused' } })
  }
}

/**
 * Logs a rejection code that the event does not declare. The event catalogue promises to list every code, so
 * the tests fail on this log line.
 */
function checkDeclared(rejections: readonly RejectionReason[], error: unknown): void {
  if (!(error instanceof RejectedEvent || error instanceof OutOfOrderEvent)) return
  const declared = [...commonRejections, ...rejections].includes(error.code)
  if (!declared) log.error('undeclared rejection', { code: error.code })
}

async function applyMessage<Detail extends v.GenericSchema>(
  spec: IntakeSpec<Detail>,
  message: SQSRecord,
): Promise<Outcome> {
  const raw = readDetail(message.body)
  const result = v.safeParse(spec.detail, raw)
  if (!result.success) {
    const reasons = fieldErrors(result.issues, 'event').map(({ field, reason }) => `${field} ${reason}`)
    throw new RejectedEvent('invalid_detail', reasons.join('; '))
  }
  return spec.apply(result.output, eventRecord(spec.detailType, spec.key(result.output), raw))
}

/** Reads `detail` from the EventBridge envelope in a message body. */
function readDetail(body: string): unknown {
  try {
    const envelope = JSON.parse(body) as { detail?: unknown }
    return envelope.detail
  } catch {
    throw new RejectedEvent('malformed_event')
  }
}

/** Moves a message to the dead-letter queue; if that fails, throws so that the queue redelivers it. */
async function giveUpOrRetry(message: SQSRecord, error: unknown): Promise<void> {
  const receives = Number(message.attributes.ApproximateReceiveCount)
  if (error instanceof RejectedEvent) return deadLetter(message, error.reason)
  if (error instanceof OutOfOrderEvent && receives >= maxOutOfOrderReceives)
    return deadLetter(message, error.reason)
  if (!(error instanceof OutOfOrderEvent)) countFailure(error)
  if (receives >= maxReceives)
    return deadLetter(message, rejectionText(isUnavailable(error) ? 'unavailable' : 'internal'))
  log.warn('event will be retried', { message_id: message.messageId, receives, cause: errorSummary(error) })
  await retryAfter(message, Math.min(2 ** receives, maxRetryDelaySeconds))
  throw error
}

async function deadLetter(message: SQSRecord, reason: string): Promise<void> {
  log.warn('event refused', { message_id: message.messageId, reason })
  await logFailure(
    sqs.send(
      new SendMessageCommand({
        QueueUrl: requireEnv('DEAD_LETTER_QUEUE_URL'),
        MessageBody: message.body,
        MessageAttributes: { reason: { DataType: 'String', StringValue: reason.slice(0, maxReasonLength) } },
      }),
    ),
  )
}

async function retryAfter(message: SQSRecord, seconds: number): Promise<void> {
  await logFailure(
    sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: requireEnv('QUEUE_URL'),
        ReceiptHandle: message.receiptHandle,
        VisibilityTimeout: seconds,
      }),
    ),
  )
}

/** Logs why a call to the queue failed: a batch response names the failed messages but no reasons. */
async function logFailure(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    log.error('the queue could not be told', { cause: errorSummary(error) })
    throw error
  }
}
