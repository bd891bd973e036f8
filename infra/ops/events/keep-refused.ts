import type { SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { tryTransact } from '../../../shared/db/write.ts'
import type { Item } from '../../../shared/db/table.ts'
import { eventRecord, type EventRecord, putRefusal, usedBy } from '../../../shared/events/event-record.ts'
import {
  mostRefusals,
  readRefusals,
  type Refusal,
  refusalsAttribute,
} from '../../../shared/events/refusal.ts'
import { RejectionReason } from '../../../shared/events/rejected-event.ts'
import { loadIntakes } from '../../openapi/event-schemas.ts'
import { collectDeadLetters } from '../dead-letters/actions.ts'
import { onDeadLetters, type QueuePair } from '../dead-letters/queues.ts'
import type { DeadLetter } from '../dead-letters/visit.ts'
import { OperationError } from '../errors.ts'

/** Events that were refused before a replay, and that it must not apply. */
export interface KeptRefusals {
  isKept: (letter: DeadLetter) => boolean
  /** Lets a later redrive apply the events again. */
  release: () => Promise<void>
}

/** Reasons that say nothing of an event itself: it came before another one, or the service was down. */
const passing: readonly (string | undefined)[] = [
  'unknown_user',
  'unknown_referrer',
  'unknown_address',
  'unavailable',
  'internal',
]

/**
 * How far ahead a refusal is dated, and numbered beyond all: what is sent before that counts as a copy of the
 * refused event.
 */
const aheadMilliseconds = 30 * 86_400_000

/** Maximum number of dead letters of one kind: reading them must end before they are visible again. */
const maxLetters = 10_000

const maxAttempts = 5

/**
 * Keeps a replay from applying the events that were refused before an instant and are dead letters: they
 * would meet other balances than the first time. Records the refusals in the table, which may have lost them,
 * as of the future, so that nothing that is sent until `release` takes effect under their ids.
 */
export async function keepRefused(
  sqs: SQSClient,
  pairs: readonly QueuePair[],
  before: number,
): Promise<KeptRefusals> {
  const kept = new Map<string, { record: EventRecord; refusal: Omit<Refusal, 'at'> }>()
  const intakes = new Map((await loadIntakes()).map((intake) => [intake.detailType, intake]))
  const read = async ({ deadLetters }: QueuePair) => {
    const letters = await collectDeadLetters(sqs, deadLetters, {
      limit: maxLetters,
      // What an earlier replay left may have come too early, and not be refused at all.
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
    const key = intake.key(parsed.output as never)
    const record = eventRecord(intake.detailType, key, detail, { eventId, sentAt: 0, refusals: 0 })
    // A dead letter of the release before has no number: it is the first.
    const refusals = Math.max(1, readRefusals(attributes[refusalsAttribute]?.StringValue))
    kept.set(eventId, { record, refusal: { code, explanation, refusals } })
  }
  const date = async (at: number, least: number) => {
    for (const { record, refusal } of kept.values())
      await recordRefusal(record, { ...refusal, at, refusals: Math.max(least, refusal.refusals) })
  }
  await date(Date.now() + aheadMilliseconds, mostRefusals + 1)
  return {
    isKept: ({ eventId }) => eventId !== null && kept.has(eventId),
    release: () => date(Date.now(), 1),
  }
}

/** Records a refusal under the business key of its event, unless an event took effect under that key. */
async function recordRefusal(record: EventRecord, refusal: Refusal): Promise<void> {
  let stored: Item | undefined
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const [failure] = await tryTransact([putRefusal(record, refusal, stored)])
    if (failure === undefined) return
    stored = failure.stored
    if (usedBy(record, stored) !== 'none') return
  }
  throw new Error('the refusals of an event change all the time: run the command again')
}
