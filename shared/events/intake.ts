import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { clientOptions } from '../aws/client-options.ts'
import { isUnavailable } from '../aws/unavailable.ts'
import { consumedUnits, resetConsumedUnits } from '../db/consumed-units.ts'
import { requireEnv } from '../env.ts'
import { emitFault } from '../emit-fault.ts'
import { emitMetric } from '../emit-metric.ts'
import { fieldErrors } from '../http/parse-input.ts'
import { errorSummary, log } from '../log.ts'
import { eventRecord, type EventRecord, type Outcome } from './event-record.ts'
import { OutOfOrderEvent, RejectedEvent, rejectionText } from './rejected-event.ts'

/** What a function does with one detail-type of the bus. */
export interface IntakeSpec<Detail extends v.GenericSchema> {
  detailType: string
  /** Schema of `detail`; what it does not accept is refused. */
  detail: Detail
  /** The business key: the same event again has the same key. */
  key: (detail: v.InferOutput<Detail>) => string
  /** Applies the event exactly once, `record` being written in the same transaction as what it changes. */
  apply: (detail: v.InferOutput<Detail>, record: EventRecord) => Promise<Outcome>
}

/** The `handler` of an intake function's bundle. */
export interface Intake {
  (event: SQSEvent, context: Context): Promise<SQSBatchResponse>
  readonly detailType: string
  readonly detail: v.GenericSchema
}

const sqs = new SQSClient(clientOptions())

/** Receives after which an event that comes too early is given up. */
const earlyReceives = 5

/** Receives after which anything else is given up; the queue's own limit stands a little above it. */
const faultReceives = 20

/**
 * A function that applies events from its queue. A refused event goes to the dead-letter queue at once, whole, with the
 * message attribute `reason`; an early one or a passing fault is retried after a growing pause, and goes there when it
 * has been tried often enough.
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
      (message: SQSRecord) => receive(spec, message),
      processor,
      { context, throwOnFullBatchFailure: false },
    )
    // Of all events together: they are applied side by side.
    log.info('batch', {
      messages: event.Records.length,
      retried: answer.batchItemFailures.length,
      duration_ms: Math.round(performance.now() - startedAt),
      ...consumedUnits(),
    })
    return answer
  }
  return Object.assign(handler, { detailType: spec.detailType, detail: spec.detail })
}

async function receive<Detail extends v.GenericSchema>(
  spec: IntakeSpec<Detail>,
  message: SQSRecord,
): Promise<void> {
  try {
    const outcome = await applyMessage(spec, message)
    log.info('event', { message_id: message.messageId, outcome })
    emitMetric('Events', 1, { dimensions: { detail_type: spec.detailType, outcome } })
  } catch (error) {
    await giveUpOrRetry(message, error)
    emitMetric('Events', 1, { dimensions: { detail_type: spec.detailType, outcome: 'refused' } })
  }
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

/** `detail` of EventBridge's envelope. */
function readDetail(body: string): unknown {
  try {
    const envelope = JSON.parse(body) as { detail?: unknown }
    return envelope.detail
  } catch {
    throw new RejectedEvent('malformed_event')
  }
}

/** Resolves when the message is done with, in the dead-letter queue; throws when it is to come again. */
async function giveUpOrRetry(message: SQSRecord, error: unknown): Promise<void> {
  const receives = Number(message.attributes.ApproximateReceiveCount)
  if (error instanceof RejectedEvent) return deadLetter(message, error.reason)
  if (error instanceof OutOfOrderEvent && receives >= earlyReceives) return deadLetter(message, error.reason)
  if (!(error instanceof OutOfOrderEvent || isUnavailable(error))) emitFault()
  if (receives >= faultReceives)
    return deadLetter(message, rejectionText(isUnavailable(error) ? 'unavailable' : 'internal'))
  log.warn('event will be retried', { message_id: message.messageId, receives, cause: errorSummary(error) })
  await retryAfter(message, Math.min(2 ** receives, 900))
  throw error
}

async function deadLetter(message: SQSRecord, reason: string): Promise<void> {
  log.warn('event refused', { message_id: message.messageId, reason })
  await logFailure(
    sqs.send(
      new SendMessageCommand({
        QueueUrl: requireEnv('DEAD_LETTER_QUEUE_URL'),
        MessageBody: message.body,
        MessageAttributes: { reason: { DataType: 'String', StringValue: reason.slice(0, 1024) } },
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

/** The answer to a batch names messages, not reasons: why a queue could not be told is seen in the log or nowhere. */
async function logFailure(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    log.error('the queue could not be told', { cause: errorSummary(error) })
    throw error
  }
}
