import type { listQueueCounts } from '../dead-letters/queues.ts'
import { countNoun, type Report } from '../report.ts'

type Counts = Awaited<ReturnType<typeof listQueueCounts>>

/** Reports the numbers of messages: queues with dead letters first, and of the empty ones only the names. */
export function reportQueues(queues: Counts): Report {
  const dead = queues.filter(({ dead_letters: count }) => count > 0)
  const waiting = queues.filter((queue) => queue.dead_letters === 0 && queue.waiting > 0)
  const empty = queues.filter((queue) => queue.dead_letters === 0 && queue.waiting === 0)
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  const letters = sum(dead.map(({ dead_letters: count }) => count))
  const messages = countNoun(sum(queues.map((queue) => queue.waiting)), 'waiting message')
  return {
    ok: dead.length === 0,
    verdict:
      dead.length === 0
        ? `No dead letters, and ${messages}`
        : `${countNoun(letters, 'dead letter')} in ${countNoun(dead.length, 'queue')}, and ${messages}`,
    sections: [
      {
        title: 'With dead letters',
        columns: ['QUEUE', 'DEAD LETTERS', 'WAITING'],
        rows: dead.map((queue) => ({
          cells: [queue.name, String(queue.dead_letters), String(queue.waiting)],
        })),
        tone: 'wrong',
      },
      {
        title: 'With waiting messages only',
        columns: ['QUEUE', 'WAITING'],
        rows: waiting.map((queue) => ({ cells: [queue.name, String(queue.waiting)] })),
      },
      {
        title: 'Empty',
        rows: empty.length === 0 ? [] : [{ cells: [empty.map(({ name }) => name).join(', ')] }],
      },
    ],
  }
}
