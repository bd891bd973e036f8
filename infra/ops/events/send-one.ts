import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isRecorded } from '../../../shared/events/event-record.ts'
import { findQueue, openSqs } from '../dead-letters/queues.ts'
import { OperationFailed } from '../problems.ts'
import type { Target } from '../target.ts'
import { listRefused } from './list-refused.ts'
import { markOf } from './make-batches.ts'
import { defaultSource } from './parse-event.ts'
import { openBus } from './put-events.ts'

/** An event that a command sends, with the business key under which its effect is recorded. */
export interface SingleEvent {
  detailType: string
  businessKey: string
  detail: Record<string, unknown>
}

/** Events that come too early are tried for half a minute before they are given up. */
const patienceMilliseconds = 90_000
const pollMilliseconds = 150

/** How many times the effect is asked for between two looks at the dead letters. */
const pollsPerLook = 10

/** Sends an event and waits until it has taken effect. Throws OperationFailed with the reason where it was refused. */
export async function sendOne(target: Target, event: SingleEvent): Promise<void> {
  const { detailType, detail } = event
  const run = randomUUID()
  const bus = openBus()
  const sqs = openSqs()
  try {
    const mark = markOf(run, 1)
    const [problem] = await bus.put([
      { detailType, source: defaultSource, detail: JSON.stringify(detail), mark },
    ])
    if (problem !== undefined) throw new OperationFailed(`the bus refused the event: ${problem}`)
    const deadline = Date.now() + patienceMilliseconds
    for (let poll = 1; Date.now() < deadline; poll += 1) {
      if (await isRecorded(event)) return
      if (poll % pollsPerLook === 0) {
        const [refused] = await listRefused(sqs, [findQueue(target, detailType)], run)
        if (refused !== undefined) throw new OperationFailed(`refused: ${refused.reason}`)
      }
      await wait(pollMilliseconds)
    }
    throw new OperationFailed('the event was sent, but has not taken effect yet; it is being retried')
  } finally {
    bus.close()
    sqs.destroy()
  }
}
