import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isRecorded } from '../../../shared/events/event-record.ts'
import { findQueue, openSqs } from '../dead-letters/queues.ts'
import { OperationError } from '../errors.ts'
import type { Target } from '../target.ts'
import { markOf, openBus } from './event-bus.ts'
import { listRejected } from './outcome.ts'
import { defaultSource } from './read-event.ts'

/** A single event that an operator command sends. */
export interface SingleEvent {
  detailType: string
  /** Business key under which the event is recorded when it takes effect. */
  businessKey: string
  detail: Record<string, unknown>
  /** Whether what follows the record of the event is done, too. Default: nothing follows. */
  isComplete?: () => Promise<boolean>
}

/**
 * Maximum time to wait until the event takes effect; longer than the retries of an event that arrives too
 * early.
 */
const maxWaitMilliseconds = 90_000
const pollIntervalMilliseconds = 150

/** Dead letters are read only at every tenth poll, because reading them is slow. */
const pollsPerDeadLetterCheck = 10

/**
 * Sends an event and waits until it has taken effect. Throws an OperationError if the event is
 * rejected, or does not take effect.
 */
export async function sendAndConfirm(target: Target, event: SingleEvent): Promise<void> {
  const { detailType, detail } = event
  const run = randomUUID()
  const bus = openBus()
  const sqs = openSqs()
  try {
    const outgoing = { detailType, source: defaultSource, detail: JSON.stringify(detail) }
    const errorCode = await bus.put({ ...outgoing, mark: markOf(run, 1) })
    if (errorCode !== undefined) throw new OperationError(`the bus refused the event: ${errorCode}`)
    const deadline = Date.now() + maxWaitMilliseconds
    for (let poll = 1; Date.now() < deadline; poll += 1) {
      if ((await isRecorded(event)) && ((await event.isComplete?.()) ?? true)) return
      if (poll % pollsPerDeadLetterCheck === 0) {
        const [rejected] = await listRejected(sqs, [findQueue(target, detailType)], run)
        if (rejected !== undefined) throw new OperationError(`refused: ${rejected.reason}`)
      }
      await wait(pollIntervalMilliseconds)
    }
    throw new OperationError('the event was sent, but has not taken effect yet; it is being retried')
  } finally {
    bus.close()
    sqs.destroy()
  }
}
