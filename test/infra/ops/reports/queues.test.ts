import { expect, it } from 'vitest'
import { reportQueues } from '../../../../infra/ops/reports/queues.ts'
import { linesOf } from './lines-of.ts'

const queue = (name: string, waiting = 0, dead_letters = 0) => ({ name, waiting, dead_letters })

it('`dlq list` lists queues with dead letters, then with waiting messages, then the empty ones', () => {
  const report = reportQueues([queue('a'), queue('b', 12), queue('c', 1, 3), queue('d'), queue('e', 0, 20)])
  expect(report.ok).toBe(false)
  expect(linesOf(report)).toEqual([
    '23 dead letters in 2 queues, and 13 waiting messages',
    '',
    'With dead letters',
    '  QUEUE  DEAD LETTERS  WAITING',
    '  c      3             1',
    '  e      20            0',
    '',
    'With waiting messages only',
    '  QUEUE  WAITING',
    '  b      12',
    '',
    'Empty',
    '  a, d',
  ])
})

it('`dlq list` says that there are no dead letters', () => {
  const report = reportQueues([queue('a'), queue('b')])
  expect(report.ok).toBe(true)
  expect(linesOf(report)).toEqual(['No dead letters, and 0 waiting messages', '', 'Empty', '  a, b'])
})
