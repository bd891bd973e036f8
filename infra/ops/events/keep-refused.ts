import type { SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { claimRefusal } from '../../../shared/events/claim-refusal.ts'
import type { EventRecord, Refusal } from '../../../shared/events/event-record.ts'
import { readRefusals, refusalsAttribute } from '../../../shared/events/delivery.ts'
import { recordOf } from '../../../shared/events/intake.ts'
import { RejectionReason } from '../../../shared/events/rejected-event.ts'
import { loadIntakes } from '../../openapi/load-intakes.ts'
import { collectDeadLetters } from '../dead-letters/actions.ts'
import { onDeadLetters, type QueuePair } from '../dead-letters/queues.ts'
import type { DeadLetter } from '../dead-letters/visit.ts'
import { OperationError } from '../errors.ts'

/** Codes of rejections not caused by the event: an earlier event was missing, or the service was down. */
const passing: readonly (string | undefined)[] = [
  'unknown_user',
  'unknown_referrer',
  'unknown_address',
  'unavailable',
  'internal',
]

/** keepRefused stores refusals with a date this far ahead. Messages sent before that date have no effect. */
const aheadMilliseconds = 30 * 86_400_000

/** The number of refusals that keepRefused records for an event. Messages with fewer have no effect. */
const beyondAllRefusals = 1_000_000

/** Maximum number of dead letters in a queue, all of which are kept in memory. */
const maxLetters = 10_000

/**
 * Blocks events that were refused before the instant `before`. Otherwise, a replay might apply them, because
 * balances may have changed. Leaves out refusals with a temporary reason. Records each refusal again, because
 * a restored table may lack the record. A blocked event has no effect until `release` is called.
 */
export async function keepRefused(sqs: SQSClient, pairs: readonly QueuePair[], before: number) {
  const kept = new Map<string, { record: EventRecord; refusal: Omit<Refusal, 'at'> }>()
  const intakes = new Map((await loadIntakes()).map((intake) => [intake.detailType, intake]))
  const read = async ({ deadLetters }: QueuePair) => {
    const { letters } = await collectDeadLetters(sqs, deadLetters, {
      limit: maxLetters,
      // A refusal in an earlier replay does not count, because that replay may have sent the event too early.
      matches: ({ replay, since }) => replay === null && since < before,
    })
    if (letters.length < maxLetters) return letters
    throw new OperationError(
      `${deadLetters} has too many dead letters: save a copy, and drop what is settled`,
    )
  }
  for (const letter of (await onDeadLetters(sqs, pairs, read)).flat()) {
    const { body, eventId, detailType, reason, attributes } = letter
    const intake = intakes.get(detailType ?? '')
    const [code, explanation = ''] = reason?.split(': ', 2) ?? []
    if (intake === undefined || eventId === null || passing.includes(code)) continue
    const { detail } = JSON.parse(body) as { detail: unknown }
    const parsed = v.safeParse(intake.detail, detail)
    if (!parsed.success || !v.is(RejectionReason, code)) continue
    // claimRefusal replaces refusals older than `sentAt`. With this `sentAt`, every refusal is older.
    const delivery = {
      eventId,
      sentAt: Number.MAX_SAFE_INTEGER,
      refusals: 0,
      hasWaited: true,
      bookedAt: 0,
      arrivedAt: 0,
    }
    const record = recordOf(intake, parsed.output, delivery)
    // Without the attribute, counts one refusal, because every dead letter was refused.
    const refusals = Math.max(1, readRefusals(attributes[refusalsAttribute]?.StringValue))
    kept.set(eventId, { record, refusal: { code, explanation, refusals } })
  }
  const date = async (at: number, least: number) => {
    for (const { record, refusal } of kept.values())
      await claimRefusal(record, { ...refusal, at, refusals: Math.max(least, refusal.refusals) })
  }
  await date(Date.now() + aheadMilliseconds, beyondAllRefusals)
  return {
    isKept: ({ eventId }: DeadLetter) => eventId !== null && kept.has(eventId),
    /**
     * Changes the date of the refusals to now. From then on, a refused event can take effect if it is
     * redriven.
     */
    release: () => date(Date.now(), 1),
  }
}
