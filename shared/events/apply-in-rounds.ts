import type { SQSRecord } from 'aws-lambda'
import { setTimeout as wait } from 'node:timers/promises'
import { countReceives } from './delivery.ts'
import type { RefusedEvent } from './claim-refusal.ts'
import type { Result } from './outcome.ts'
import { RejectedEvent } from './rejected-event.ts'

/** An event in a message from the queue. */
export interface ReceivedEvent {
  message: SQSRecord
  event: RefusedEvent
  /** The user whom the event's detail names. */
  userId?: number | undefined
  /** Applies the event once. Throws why it cannot be applied, also if the message cannot be read. */
  apply(): Promise<Result>
}

/** An event after its newest try, with its result or why it was not applied. */
export interface TriedEvent extends ReceivedEvent {
  result: Result | { error: unknown }
}

/**
 * How often an early event is received before invocations no longer wait for events of other batches, for how
 * long they do, and the first of their pauses, which double. An invocation that waits holds up others.
 */
const maxPatientReceives = 3
const maxWaitMilliseconds = 250
const firstWaitMilliseconds = 50

/**
 * Tries the events of a batch: all at the same time, and then those that came too early one after another,
 * for as long as that helps. If it does not, events of other batches may be on their way: tries again after
 * short pauses, until a quarter of a second after `startedAt` (epoch milliseconds). Resolves with all events,
 * in any order.
 */
export async function applyInRounds(
  batch: readonly ReceivedEvent[],
  startedAt: number,
  tryOnce: (received: ReceivedEvent) => Promise<TriedEvent>,
): Promise<TriedEvent[]> {
  const first = await Promise.all(batch.map(tryOnce))
  const done = first.filter((tried) => !isEarly(tried))
  let early = first.filter(isEarly)
  let hasHelped = done.length > 0
  let pause = firstWaitMilliseconds
  while (early.length > 0) {
    if (!hasHelped) {
      if (!early.some(isPatient) || Date.now() + pause > startedAt + maxWaitMilliseconds) break
      await wait(pause)
      pause *= 2
    }
    const round: TriedEvent[] = []
    for (const received of early) round.push(await tryOnce(received))
    const ended = round.filter((tried) => !isEarly(tried))
    done.push(...ended)
    hasHelped = ended.length > 0
    // Turns round each time, so that a chain is applied in two rounds, in whichever direction it came.
    early = round.filter(isEarly).reverse()
  }
  return [...done, ...early]
}

/** Whether an event was not applied, but may be when others have been. */
const isEarly = ({ result }: TriedEvent): boolean =>
  'error' in result && result.error instanceof RejectedEvent && result.error.mayPass

const isPatient = ({ message, event }: TriedEvent): boolean =>
  !event.delivery.hasWaited && countReceives(message) <= maxPatientReceives
