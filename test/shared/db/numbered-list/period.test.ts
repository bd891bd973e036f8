import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addDays, dayOf, startOfDay } from '../../../../shared/dates.ts'
import { isNewestPage, readListPage, rowKey } from '../../../../shared/db/numbered-list.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { useMemoryTable } from '../../../support/memory-table.ts'

// Eventually consistent reads do not see what these tests write.
useMemoryTable(() => () => 60_000)

const firstDay = '2026-03-01'
const day = 86_400_000

/** The instants of a list's rows, in order: on the first millisecond of a day, the last one, or between. */
const instants = fc
  .array(fc.tuple(fc.nat(5), fc.constantFrom(0, 1, day / 2, day - 1)), { maxLength: 300, size: 'max' })
  .map((drawn) =>
    drawn.map(([days, time]) => startOfDay(firstDay) + days * day + time).sort((one, other) => one - other),
  )
const bound = fc.option(
  fc.integer({ min: -1, max: 7 }).map((days) => addDays(firstDay, days)),
  { nil: undefined },
)

let lists = 0

it('a page of a period has the rows of its days, whatever the length of the list', async () => {
  await fc.assert(
    fc.asyncProperty(
      instants,
      bound,
      bound,
      fc.integer({ min: 1, max: 3 }),
      async (rows, one, other, current) => {
        const list = `list ${(lists += 1)}`
        const [beginTime, endTime] = one && other && one > other ? [other, one] : [one, other]
        const query = { beginTime, endTime, current, size: 7 }
        // The newest page of the whole list may be as old as an eventually consistent read.
        fc.pre(!isNewestPage(query))
        for (const [i, instant] of rows.entries())
          await writeItem({ Put: { Item: { ...rowKey(list, i + 1), created_at: instant } } })
        const expected = rows
          .filter((instant) => beginTime === undefined || dayOf(instant) >= beginTime)
          .filter((instant) => endTime === undefined || dayOf(instant) <= endTime)
          .toReversed()
        const page = await readListPage(list, async () => rows.length, query)
        expect(page.total).toBe(expected.length)
        expect(page.rows.map((row) => Number(row['created_at']))).toEqual(
          expected.slice((current - 1) * 7, current * 7),
        )
      },
    ),
    { numRuns: 20 },
  )
})

it('rows that come after the length was read are left out', async () => {
  for (const number of [1, 2, 3])
    await writeItem({ Put: { Item: { ...rowKey('growing', number), created_at: startOfDay(firstDay) } } })
  const query = { beginTime: firstDay, endTime: firstDay, current: 1, size: 7 }
  const { rows, total } = await readListPage('growing', async () => 2, query)
  expect([rows.map(({ sk }) => Number(sk)), total]).toEqual([[2, 1], 2])
})
