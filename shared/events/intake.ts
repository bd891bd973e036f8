import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { delayRetry, growingPause } from '../aws/delay-retry.ts'
import { consumedUnits, resetConsumedUnits } from '../db/consumed-units.ts'
import { restOnTheHour } from '../db/rest.ts'
import { ConditionFailed } from '../db/write.ts'
import { emitMetric } from '../emit-metric.ts'
import { runInvocation } from '../invocation.ts'
import { isObject } from '../is-object.ts'
import { log } from '../log.ts'
import { fieldErrors } from '../parse-input.ts'
import { retry } from '../retry.ts'
import { applyInRounds, type ReceivedEvent, type TriedEvent } from './apply-in-rounds.ts'
import { type Delivery, maxRetryDelaySeconds, readDelivery, withEnvelope } from './delivery.ts'
import { isOwn, readEnvelope } from './envelope.ts'
import { eventRecord, type EventRecord } from './event-record.ts'
import type { OutcomeDetail, Result } from './outcome.ts'
import { refuseOrRetry } from './refuse-or-retry.ts'
import { RejectedEvent, type RejectionReason } from './rejected-event.ts'
import { tellOutcomes } from './tell-outcomes.ts'

/** Description of an intake function: how it handles the events of one detail-type. */
export interface IntakeSpec<Detail extends v.GenericSchema> {
  detailType: string
  /** Schema of the event's `detail`; an event that does not match it is rejected. */
  detail: Detail
  /** Returns the business key, which is the same each time the event is sent. */
  key(detail: v.InferOutput<Detail>): string
  /**
   * What of a detail is compared with that of an earlier delivery. Default: the detail. Two spellings of what
   * the contract takes for one value must be one here.
   */
  content?(detail: v.InferOutput<Detail>): unknown
  /** Every rejection code that `apply` throws, besides the common ones. */
  rejections?: readonly RejectionReason[]
  /**
   * Writes `record` and the event's changes in one transaction, so that the event takes effect exactly once.
   * After ConditionFailed, `apply` is called again and must read and decide anew.
   */
  apply(detail: v.InferOutput<Detail>, record: EventRecord): Promise<Result>
}

/** The Lambda handler of an intake function. Its properties describe the function (see IntakeSpec). */
export type Intake = ((event: SQSEvent, context: Context) => Promise<SQSBatchResponse>) &
  Required<Omit<IntakeSpec<v.GenericSchema>, 'content'>> &
  Pick<IntakeSpec<v.GenericSchema>, 'content'>

/** Time reserved for postponing an event that was not applied in time, or for sending its dead letter. */
const queueReserveMilliseconds = 7_000

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
    const tryOnce = async (received: ReceivedEvent): Promise<TriedEvent> => {
      const applying = runInvocation(context, queueReserveMilliseconds, () => received.apply())
      return { ...received, result: await applying.catch((error: unknown) => ({ error })) }
    }
    const batch = event.Records.map((message) => receive(spec, message))
    const tried = await applyInRounds(batch, startedAt, tryOnce)
    const ends = new Map(tried.map((one) => [one.message, one]))
    const outcomes = new Map<SQSRecord, OutcomeDetail>()
    const { batchItemFailures } = await processPartialResponse(
      event,
      async (message: SQSRecord) => {
        const outcome = await finish(ends.get(message) as TriedEvent, end)
        if (!isOwn(message)) outcomes.set(message, outcome)
      },
      processor,
      { context, throwOnFullBatchFailure: false },
    )
    // Only then are the messages given back. So a function that dies before has the outcomes told again.
    const untold = await tellOutcomes(outcomes)
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

/** Reads the event in a message. If that fails, `apply` throws why. */
function receive<Detail extends v.GenericSchema>(
  spec: IntakeSpec<Detail>,
  message: SQSRecord,
): ReceivedEvent {
  const { detailType } = spec
  const delivery = readDelivery(message)
  let businessKey = delivery.eventId
  try {
    const envelope = readEnvelope(message.body)
    const result = v.safeParse(spec.detail, envelope.detail)
    if (!result.success) {
      businessKey = keyOfInvalid(spec, result) ?? businessKey
      throw new RejectedEvent('invalid_detail', explain(result.issues))
    }
    const detail = result.output
    const record = recordOf(spec, detail, withEnvelope(delivery, envelope))
    return {
      message,
      event: record,
      userId: userIdIn(detail),
      apply: () =>
        retry(
          () => spec.apply(detail, record),
          (error) => error instanceof ConditionFailed,
        ),
    }
  } catch (error) {
    const fail = async () => {
      throw error
    }
    return { message, event: { detailType, businessKey, delivery }, apply: fail }
  }
}

/** The record of an event with this detail, as its schema has parsed it. */
export const recordOf = <Detail extends v.GenericSchema>(
  { detailType, key, content }: Pick<IntakeSpec<Detail>, 'detailType' | 'key' | 'content'>,
  detail: v.InferOutput<Detail>,
  delivery?: Delivery,
): EventRecord => eventRecord(detailType, key(detail), content?.(detail) ?? detail, delivery)

/**
 * The business key of a detail that is not valid; undefined if the key needs a member that is not. The
 * refusal is recorded under the key, so a later delivery finds it, even when the detail has become valid
 * because an instant that lay ahead has come.
 */
function keyOfInvalid<Detail extends v.GenericSchema>(
  spec: IntakeSpec<Detail>,
  { output, issues }: { output: unknown; issues: readonly v.BaseIssue<unknown>[] },
): string | undefined {
  if (!isObject(output)) return undefined
  const invalid = issues.map(({ path }) => String(path?.[0].key))
  const keyWith = (placeholder: string) =>
    spec.key({ ...output, ...Object.fromEntries(invalid.map((name) => [name, placeholder])) })
  const found = keyWith('a')
  return found === keyWith('b') ? found : undefined
}

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

/**
 * Ends the delivery of an event, if need be by a refusal. Resolves with the outcome that its sender is to be
 * told. Throws if SQS is to deliver the event again. `end` is when Lambda ends the invocation.
 */
async function finish(tried: TriedEvent, end: number): Promise<OutcomeDetail> {
  const { message, event, userId, result } = tried
  const { detailType, businessKey, delivery } = event
  const ended = 'error' in result ? await refuseOrRetry(tried, result.error, end) : result
  const { outcome } = ended
  log.info('event', { message_id: message.messageId, event_id: delivery.eventId, outcome })
  emitMetric('Events', 1, { dimensions: { detail_type: detailType, outcome } })
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
