import { InvalidArgumentError } from 'commander'
import { expect, it } from 'vitest'
import { readInstant } from '../../../../infra/ops/command.ts'
import { archiveWait } from '../../../../infra/ops/events/replay.ts'

const minute = 60_000

it.each([
  ['prod', 0, 10],
  ['prod', 4, 6],
  ['prod', 10, 0],
  ['prod', 600, 0],
  ['local', 0, 0],
])(
  'on stage %s, with an event to replay of %i minutes ago, the replay first waits %i minutes',
  (stage, ago, waits) => {
    const now = Date.UTC(2026, 10, 22)
    expect(archiveWait(stage, { from: 0, to: now - ago * minute }, now)).toBe(waits * minute)
  },
)

it('an instant on the command line must name its time zone, and a day that there is', () => {
  expect(readInstant('2026-11-22T12:00:00Z')).toBe(Date.UTC(2026, 10, 22, 12))
  expect(readInstant('2026-11-22T12:00:00.5+01:00')).toBe(Date.UTC(2026, 10, 22, 11, 0, 0, 500))
  for (const text of [
    '',
    'now',
    '2026-11-22',
    '2026-11-22T12:00:00',
    '2026-13-22T12:00:00Z',
    '2026-02-30T12:00:00Z',
    '2026-11-22T(about)12:00:00Z',
    '1700000000000',
  ])
    expect(() => readInstant(text), text).toThrow(InvalidArgumentError)
})
