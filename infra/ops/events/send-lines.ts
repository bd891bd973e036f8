import { randomUUID } from 'node:crypto'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import type { CommandContext } from '../command.ts'
import { findQueue, openSqs } from '../dead-letters/queues.ts'
import { startProgress } from '../progress.ts'
import { formatTable } from '../terminal.ts'
import { markOf, openBus } from './event-bus.ts'
import { awaitEmptyQueues, listRejected, type RejectedLine } from './outcome.ts'
import { readEvent } from './read-event.ts'

/** What became of the lines of an input. */
export interface SendResult {
  lines: number
  sent: number
  /** Whether every event has been applied or rejected. */
  applied: boolean
  refused_count: number
  /**
   * The rejected input lines: at most 1,000 that could not be sent, and 1,000 per queue that a function
   * rejected.
   */
  refused: RejectedLine[]
}

/** Number of events that are sent at the same time. */
const concurrency = 32

const maxListed = 1_000

/**
 * Sends each line as an event, waits until they are applied, and finds those that were rejected. A run that
 * ends early may be started again from the first line: an event takes effect once.
 */
export async function sendLines(
  { target, terminal }: CommandContext,
  lines: AsyncIterable<string>,
): Promise<SendResult> {
  const run = randomUUID()
  const bus = openBus()
  const showSent = startProgress(terminal, 'sending')
  const types = new Set<string>()
  const notSent: RejectedLine[] = []
  const counts = { lines: 0, sent: 0, refused: 0 }
  try {
    await forEachConcurrently(numbered(lines), concurrency, async ({ line, text }) => {
      counts.lines = line
      if (text.trim() === '') return
      const event = readEvent(target.stage, text)
      const code =
        typeof event === 'string' ? undefined : await bus.put({ ...event, mark: markOf(run, line) })
      if (typeof event !== 'string' && code === undefined) {
        types.add(event.detailType)
        showSent(`${(counts.sent += 1)} events`)
        return
      }
      counts.refused += 1
      const reason = typeof event === 'string' ? event : `the bus refused it: ${code}`
      if (notSent.length < maxListed) notSent.push({ line, detail_type: null, reason })
    })
  } finally {
    bus.close()
  }
  const queues = [...types].map((type) => findQueue(target, type))
  const sqs = openSqs()
  const showWaiting = startProgress(terminal, 'applying')
  try {
    const waiting = queues.flatMap(({ queue }) => queue ?? [])
    const applied = await awaitEmptyQueues(sqs, waiting, (count) => showWaiting(`${count} waiting`))
    const rejected = await listRejected(sqs, queues, run)
    return {
      lines: counts.lines,
      sent: counts.sent,
      applied,
      refused_count: counts.refused + rejected.length,
      refused: [...notSent, ...rejected].sort((a, b) => a.line - b.line),
    }
  } finally {
    sqs.destroy()
  }
}

async function* numbered(lines: AsyncIterable<string>): AsyncGenerator<{ line: number; text: string }> {
  let line = 0
  for await (const text of lines) yield { line: (line += 1), text }
}

/** Describes what became of the lines of an input. */
export function describeResult({ lines, sent, refused, refused_count: count, applied }: SendResult): string {
  const table = formatTable(
    ['LINE', 'EVENT', 'REASON'],
    refused.map(({ line, detail_type: type, reason }) => [String(line), type ?? '-', reason]),
  )
  const status = applied
    ? 'All of them have been applied or rejected.'
    : 'Some of them are still being retried.'
  const rejected = `${count} rejected${count > refused.length ? `, the first ${refused.length}` : ''}:`
  return [`${sent} events of ${lines} lines sent. ${status}`, ...(count === 0 ? [] : [rejected, table])].join(
    '\n',
  )
}

/** Whether every line was sent and has taken effect. */
export const isDone = ({ refused_count: count, applied }: SendResult): boolean => applied && count === 0
