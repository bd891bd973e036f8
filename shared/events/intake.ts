import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { setTimeout as wait } from 'node:timers/promises'
import * as v from 'valibot'
import { delayRetry, growingPause } from '../aws/delay-retry.ts'
import { sendDeadLetter } from '../aws/send-dead-letter.ts'
import { consumedUnits, resetConsumedUnits } from '../db/consumed-units.ts'
import { restOnTheHour } from '../db/rest.ts'
import { ConditionFailed } from '../db/write.ts'
import { emitMetric } from '../emit-metric.ts'
import { ownSource } from '../env.ts'
import { OptimisticLockError } from '../errors.ts'
import { countFailure, isUnavailable } from '../faults.ts'
import { OutOfTime, runInvocation } from '../invocation.ts'
import { isTooComplex } from '../is-too-complex.ts'
import { fieldErrors } from '../parse-input.ts'
import { errorSummary, log } from '../log.ts'
import { retry } from '../retry.ts'
import { settings } from '../settings.ts'
import {
  claimRefusal,
  type Delivery,
  eventRecord,
  type EventRecord,
  noteSent,
  type Outcome,
  type Refusal,
  type RefusedEvent,
  type Result,
} from './event-record.ts'
import type { OutcomeDetail } from './outcome.ts'
import { RejectedEvent, type RejectionReason, rejectionReasons, rejectionText } from './rejected-event.ts'
import { tellOutcomes } from './tell-outcomes.ts'

/** Description of an intake function: how it handles the events of one detail-type. */
export interface IntakeSpec<Detail extends v.GenericSchema> {
  detailType: string
  /** Schema of the event's `detail`; an event that does not match it is rejected. */
  detail: Detail
  /** Returns the business key, which is the same each time the event is sent. */
  key(detail: v.InferOutput<Detail>): string
  /** Every rejection code that `apply` throws, besides the common ones. */
  rejections?: readonly RejectionReason[]
  /**
   * Writes `record` and the event's changes in one transaction, so that the event takes effect exactly once.
   * After ConditionFailed, `apply` is called again and must read and decide anew.
   */
  apply(detail: v.InferOutput<Detail>, record: EventRecord): Promise<Outcome | Result>
}

/** The Lambda handler of an intake function. Its properties describe the function (see IntakeSpec). */
export type Intake = ((event: SQSEvent, context: Context) => Promise<SQSBatchResponse>) &
  Required<IntakeSpec<v.GenericSchema>>

/**
 * How long an event that came too early waits for the events that it needs, in milliseconds, from the first
 * receive of its message. A backlog, before that, does not count, nor does what was before a redrive.
 */
const maxEarlyMilliseconds = (): number => settings().earlyEventSeconds * 1_000

/**
 * Pause before an early event is received again, in seconds: the shortest that SQS has, because each event of
 * a chain that spans several queues waits for one pause, and then a longer one.
 */
const earlyPauseSeconds = { first: 1, later: 2 }

/** Number of receives after which the pauses of an early event are longer. All take the minute together. */
const shortPauses = 20

/**
 * How often an early event is received before invocations no longer wait for events of other batches, for how
 * long they do, and the first of their pauses, which double. An invocation that waits holds up others.
 */
const maxPatientReceives = 3
const maxWaitMilliseconds = 250
const firstWaitMilliseconds = 50

/**
 * Number of receives after which an event is moved to the dead-letter queue, whatever the failure. The
 * queue's own limit is a little higher.
 */
export const maxReceives = 50

const maxRetryDelaySeconds = 900

/** Time reserved for postponing an event that was not applied in time, or for sending its dead letter. */
const queueReserveMilliseconds = 7_000

/**
 * A refusal begins only if at least this much time is left, enough to store a record, send a dead letter, and
 * record that it was sent.
 */
const minRefusalMilliseconds = 5_000

/** Time reserved for noting that the dead letter has been sent. */
const noteReserveMilliseconds = 2_000

/** Message attribute of a dead letter: how often its event has been refused. A redrive keeps it. */
export const refusalsAttribute = 'refusals'

/** Reads `refusals` from a message's attribute; 0 if it is missing or malformed. */
export const readRefusals = (text: string | undefined): number =>
  /^[1-9]\d{0,5}$/.test(text ?? '') ? Number(text) : 0

/** A message that is being processed, and what is known about the event in it. */
interface ReceivedEvent {
  message: SQSRecord
  event: RefusedEvent
  /** Time at which Lambda ends the invocation, epoch milliseconds. */
  end: number
  /** The outcome of the newest try to apply the event, or why it failed; undefined before the first. */
  result?: Result | { error: unknown }
  /** The user whom the event concerns, as soon as its detail has been read. */
  userId?: number | undefined
}

/** Whether an event was not applied, but may be when others have been. */
const isEarly = ({ result }: ReceivedEvent): boolean =>
  result !== undefined && 'error' in result && result.error instanceof RejectedEvent && result.error.mayPass

/**
 * Creates a function that applies events from its queue. A rejected event goes to the dead-letter queue,
 * unchanged, with the message attributes `reason` and `refusals`: at once, or if a later event may make good
 * what it lacks, after a minute. After any other failure, the event is retried after growing pauses. After
 * too many tries, it goes to the dead-letter queue, too.
 */
export function intake<Detail extends v.GenericSchema>(spec: IntakeSpec<Detail>): Intake {
  restOnTheHour()
  const processor = new BatchProcessor(EventType.SQS)
  const handler = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const startedAt = Date.now()
    const end = startedAt + context.getRemainingTimeInMillis()
    resetConsumedUnits()
    log.resetKeys()
    log.appendKeys({ request_id: context.awsRequestId, detail_type: spec.detailType })
    const batch = new Map(event.Records.map((message) => [message, receive(spec, message, end)]))
    await applyInRounds([...batch.values()], startedAt + maxWaitMilliseconds, async (received) => {
      received.result = await runInvocation(context, queueReserveMilliseconds, () =>
        applyMessage(spec, received),
      ).catch((error: unknown) => ({ error }))
    })
    const told = new Map<OutcomeDetail, SQSRecord>()
    const { batchItemFailures } = await processPartialResponse(
      event,
      async (message: SQSRecord) => {
        const outcome = await finish(batch.get(message) as ReceivedEvent)
        if (outcome !== undefined) told.set(outcome, message)
      },
      processor,
      { context, throwOnFullBatchFailure: false },
    )
    // Only then are the messages given back. So a function that dies before has the outcomes told again.
    const untold = (await tellOutcomes([...told.keys()])).map((outcome) => told.get(outcome) as SQSRecord)
    for (const message of untold) await delayRetry(message, growingPause(message, maxRetryDelaySeconds))
    // A copy, because the processor gives the same list to every invocation.
    const failures = [...batchItemFailures, ...untold.map(({ messageId }) => ({ itemIdentifier: messageId }))]
    // Counts DynamoDB units for the whole batch, because its events are applied in parallel.
    log.info('batch', {
      messages: event.Records.length,
      retried: failures.length,
      duration_ms: Date.now() - startedAt,
      ...consumedUnits(),
    })
    return { batchItemFailures: failures }
  }
  return Object.assign(handler, { rejections: [], ...spec })
}

function receive({ detailType }: Pick<Intake, 'detailType'>, message: SQSRecord, end: number): ReceivedEvent {
  const delivery = readDelivery(message)
  return { message, end, event: { detailType, businessKey: delivery.eventId, delivery } }
}

/**
 * Applies the events of a batch: all at the same time, and then those that came too early one after another,
 * for as long as that helps. If it does not, events of other batches may be on their way: tries again after
 * short pauses, until the instant `waitsUntil` (epoch milliseconds). Each round applies an event or pauses.
 */
async function applyInRounds(
  batch: ReceivedEvent[],
  waitsUntil: number,
  apply: (received: ReceivedEvent) => Promise<void>,
): Promise<void> {
  await Promise.all(batch.map(apply))
  let waiting = batch
  let pause = firstWaitMilliseconds
  for (;;) {
    const early = waiting.filter(isEarly)
    if (early.length === 0) return
    if (early.length === waiting.length) {
      if (!early.some(isPatient) || Date.now() + pause > waitsUntil) return
      await wait(pause)
      pause *= 2
    }
    // Turns round each time, so that a chain is applied in two rounds, in whichever direction it came.
    for (const received of early) await apply(received)
    waiting = early.reverse()
  }
}

const isPatient = ({ message, event }: ReceivedEvent): boolean =>
  !event.delivery.hasWaited && countReceives(message) <= maxPatientReceives

const countReceives = ({ attributes }: Pick<SQSRecord, 'attributes'>): number =>
  Number(attributes.ApproximateReceiveCount)

/**
 * Ends the delivery of an event: refuses it or lets SQS deliver it again, if it was not applied. Resolves
 * with the outcome that its sender is to be told; undefined for an event that the service itself has sent.
 */
async function finish(received: ReceivedEvent): Promise<OutcomeDetail | undefined> {
  const { message, event, userId, result = { error: new Error('an event was not tried') } } = received
  const { detailType, businessKey, delivery } = event
  const ended = 'outcome' in result ? result : await refuseOrRetry(received, result.error)
  const { outcome } = ended
  log.info('event', { message_id: message.messageId, event_id: delivery.eventId, outcome })
  emitMetric('Events', 1, { dimensions: { detail_type: detailType, outcome } })
  if (isOwn(message)) return undefined
  return {
    event_id: delivery.eventId,
    detail_type: detailType,
    business_key: businessKey,
    outcome: outcome === 'duplicate' || outcome === 'unneeded' ? 'no_effect' : outcome,
    ...('reason' in ended
      ? { reason: ended.reason, user_id: userId }
      : { user_id: userId ?? ended.userId, subject: ended.subject }),
    at: ended.at ?? Date.now(),
  }
}

async function applyMessage<Detail extends v.GenericSchema>(
  spec: IntakeSpec<Detail>,
  received: ReceivedEvent,
): Promise<Result> {
  const { message, event } = received
  const envelope = readEnvelope(message.body)
  const result = v.safeParse(spec.detail, envelope.detail)
  if (!result.success) throw new RejectedEvent('invalid_detail', explain(result.issues))
  const delivery = {
    ...event.delivery,
    bookedAt: bookingInstant(envelope),
    arrivedAt: arrivalInstant(envelope, event.delivery),
  }
  const record = eventRecord(spec.detailType, spec.key(result.output), result.output, delivery)
  received.event = record
  received.userId = userIdIn(result.output)
  return retry(
    async () => toResult(await spec.apply(result.output, record)),
    (error) => error instanceof ConditionFailed,
  )
}

const toResult = (result: Outcome | Result): Result =>
  typeof result === 'string' ? { outcome: result } : result

/** The user whom an event's detail names. */
const userIdIn = (detail: unknown): number | undefined => {
  const { user_id: userId } = detail as { user_id?: unknown }
  return typeof userId === 'number' ? userId : undefined
}

const maxExplanationLength = 500

/**
 * Explains which fields are not valid. Because the sender can choose field names, the explanation is cut, and
 * has only characters that SQS accepts in a message attribute.
 */
function explain(issues: readonly v.BaseIssue<unknown>[]): string {
  const reasons = fieldErrors(issues, 'event').map(({ field, reason }) => `${field} ${reason}`)
  return reasons
    .join('; ')
    .slice(0, maxExplanationLength)
    .replaceAll(/[^ -~]/g, '?')
}

/** The envelope in which EventBridge delivers an event. Its fields are not validated. */
interface Envelope {
  detail?: unknown
  /** When the event was first sent, ISO 8601. */
  time?: unknown
  /** Name of the replay that sent the event again; senders cannot set it. */
  'replay-name'?: unknown
}

function readEnvelope(body: string): Envelope {
  if (isTooComplex(body)) throw new RejectedEvent('too_complex')
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Text that is not JSON is rejected like JSON that is not an object.
  }
  throw new RejectedEvent('malformed_event')
}

/** The instant at which an event is booked (see Delivery). A replayed event is never booked in the future. */
function bookingInstant(envelope: Envelope): number {
  const now = Date.now()
  if (envelope['replay-name'] === undefined) return now
  const sentAt = Date.parse(String(envelope.time))
  return Number.isNaN(sentAt) ? now : Math.min(sentAt, now)
}

/**
 * The instant at which an event came (see Delivery). Of a message from the bus, that is when it was sent to
 * the queue. A redriven or replayed message is sent anew, so the event's own time counts, which EventBridge
 * cuts to a second.
 */
function arrivalInstant(envelope: Envelope, { sentAt, refusals, arrivedAt }: Delivery): number {
  const queuedAt = sentAt === 0 ? arrivedAt : sentAt
  if (envelope['replay-name'] === undefined && refusals === 0) return queuedAt
  const endOfSecond = Date.parse(String(envelope.time)) + 999
  return Number.isNaN(endOfSecond) ? queuedAt : Math.min(endOfSecond, queuedAt)
}

/** Matches the beginning of an event, up to its id. Parsing the whole text could be harmful. */
const eventHead = /^\{(?:"version":"0",)?"id":"([\w-]{1,64})"/

/** Matches the beginning of an event, up to its source. No text of a sender's can come before it. */
const sourceHead =
  /^\{(?:"version":"0",)?"id":"[\w-]{1,64}","detail-type":"[\w.]{1,128}","source":"([^"\\]{1,256})"/

/** Whether the service itself has sent an event, so that nobody is to be told what became of it. */
const isOwn = ({ body }: SQSRecord): boolean => sourceHead.exec(body)?.[1] === ownSource

function readDelivery({
  messageId,
  body,
  attributes,
  messageAttributes,
}: Pick<SQSRecord, 'messageId' | 'body' | 'attributes'> & Partial<SQSRecord>): Delivery {
  return {
    eventId: eventHead.exec(body)?.[1] ?? messageId,
    // Without `SentTimestamp` (a direct invocation), the message counts as older than any refusal.
    sentAt: Number(attributes.SentTimestamp) || 0,
    hasWaited:
      waitedMilliseconds({ attributes }) >= maxEarlyMilliseconds() ||
      countReceives({ attributes }) >= maxReceives,
    refusals: readRefusals(messageAttributes?.[refusalsAttribute]?.stringValue),
    bookedAt: Date.now(),
    arrivedAt: Date.now(),
  }
}

/** The result of an event that was refused. */
interface Refused {
  outcome: 'refused'
  reason: RejectionReason
  at: number
}

/** Moves a failed message to the dead-letter queue, or throws so that SQS delivers it again after a pause. */
async function refuseOrRetry(received: ReceivedEvent, error: unknown): Promise<Refused | Result> {
  const { message, event, end } = received
  const receives = countReceives(message)
  let cause = error
  try {
    if (!(error instanceof RejectedEvent)) countFailure(error)
    const refusal = decideRefusal(error, receives, event.delivery, end)
    if (refusal !== undefined) return await refuse(received, refusal)
  } catch (failure) {
    countFailure(failure)
    cause = failure
  }
  log.warn('event will be retried', {
    message_id: message.messageId,
    event_id: event.delivery.eventId,
    receives,
    ...(cause instanceof RejectedEvent ? { reason: cause.code } : { cause: errorSummary(cause) }),
  })
  await delayRetry(
    message,
    cause instanceof RejectedEvent ? earlyPause(message) : growingPause(message, maxRetryDelaySeconds),
  )
  throw cause
}

/** Pause before an early event is received again, in seconds. Its last receive is when its minute is over. */
function earlyPause(message: SQSRecord): number {
  const { first, later } = earlyPauseSeconds
  const left = Math.ceil((maxEarlyMilliseconds() - waitedMilliseconds(message)) / 1_000)
  return Math.max(1, Math.min(countReceives(message) <= shortPauses ? first : later, left))
}

/**
 * How long ago a message was received first. One from nobody knows when, as in a direct invocation, counts as
 * received in 1970.
 */
const waitedMilliseconds = ({ attributes }: Pick<SQSRecord, 'attributes'>): number =>
  Date.now() - (Number(attributes.ApproximateFirstReceiveTimestamp || attributes.SentTimestamp) || 0)

/** Decides whether to refuse a failed message. Returns undefined if SQS must deliver the message again. */
function decideRefusal(
  error: unknown,
  receives: number,
  { sentAt, refusals, hasWaited }: Delivery,
  until: number,
): Refusal | undefined {
  // The clock of SQS may be ahead. A refusal must not seem older than the message that it refuses.
  const decided = { at: Math.max(Date.now(), sentAt), refusals: refusals + 1, until }
  if (error instanceof RejectedEvent) {
    if (error.mayPass && !hasWaited) return undefined
    return { code: error.code, explanation: error.explanation, ...decided }
  }
  if (receives < maxReceives) return undefined
  const code = isUnavailable(error) ? 'unavailable' : 'internal'
  return { code, explanation: rejectionReasons[code].means, ...decided }
}

/**
 * Sends one dead letter for an event, even if its message is delivered several times: records the refusal,
 * sends the dead letter, and records that it was sent. If this is interrupted, a later delivery sends the
 * dead letter, perhaps a second time. An event that has taken effect is not refused.
 */
async function refuse({ message, event, end }: ReceivedEvent, refusal: Refusal): Promise<Refused | Result> {
  if (end - Date.now() < minRefusalMilliseconds) throw new OutOfTime(true)
  const refused: Refused = { outcome: 'refused', reason: refusal.code, at: refusal.at }
  const claim = await claimRefusal(event, refusal).catch((error: unknown) => {
    // If the table was down at every try, the dead letter is sent without a record.
    if (refusal.code !== 'unavailable' || error instanceof OptimisticLockError) throw error
    return 'claimed' as const
  })
  if (claim === 'sent') return refused
  if (claim !== 'claimed') return claim
  const reason = rejectionText(refusal.code, refusal.explanation)
  // Logs only the code, because the explanation can have names that the sender chose.
  log.warn('event refused', {
    message_id: message.messageId,
    event_id: event.delivery.eventId,
    reason: refusal.code,
  })
  const attributes = {
    reason: { DataType: 'String', StringValue: reason },
    [refusalsAttribute]: { DataType: 'Number', StringValue: String(refusal.refusals) },
  }
  await sendDeadLetter(message.body, attributes, end - Date.now() - noteReserveMilliseconds)
  try {
    await noteSent(event)
  } catch (error) {
    // Only log the failure: the dead letter has been sent, so the event's message must not be delivered
    // again.
    log.warn('a dead letter could not be noted', { cause: errorSummary(error) })
  }
  return refused
}
