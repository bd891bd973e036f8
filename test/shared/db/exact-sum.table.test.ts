import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addToSums, readSum, undoAdditions } from '../../../shared/db/exact-sum.ts'
import { readItem } from '../../../shared/db/read.ts'
import { writeItem } from '../../../shared/db/write.ts'
import { Big } from '../../../shared/money.ts'

const runs = Number(process.env['RUNS'] ?? 20)
const at = 1_700_000_000_000

/** An addition to one of two sums. There are few amounts, so that sums are often zero on the way. */
const addition = fc.record({
  attribute: fc.constantFrom('money', 'devices'),
  amount: fc.constantFrom('1', '-1', '0.5', '-0.5'),
})

/** Devices that were one, two, one, of which the first stays: without the second there are none meanwhile. */
const zeroOnTheWayBack = ['1', '1', '-1'].map((amount) => ({ attribute: 'devices', amount }))

/** What the first additions come to. */
const sumOf = (additions: readonly { attribute: string; amount: string }[], attribute: string): string =>
  additions
    .filter((each) => each.attribute === attribute)
    .reduce((sum, { amount }) => sum.plus(amount), new Big('0'))
    .toFixed()

it(`an item of sums taken back to an instant, and then to an earlier one, has the sums of what was added before it, in ${runs} histories`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(addition, { minLength: 1, maxLength: 8 }),
      fc.nat({ max: 8 }),
      fc.nat({ max: 8 }),
      async (additions, first, second) => {
        const key = { pk: `EARN#${crypto.randomUUID()}`, sk: 'TOTAL' }
        for (const [i, { attribute, amount }] of additions.entries()) {
          const stored = await readItem(key, { consistent: true })
          const sums = new Map([[attribute, new Big(amount)]])
          await writeItem(addToSums(key, sums, new Map(), { at: at + i, stored }))
        }
        for (const kept of [Math.max(first, second), Math.min(first, second)]) {
          const stored = (await readItem(key, { consistent: true })) ?? expect.unreachable()
          await writeItem({ Put: { Item: undoAdditions(stored, at + kept) } })
          const item = await readItem(key, { consistent: true })
          for (const attribute of ['money', 'devices'])
            expect(readSum(item, attribute).toFixed()).toBe(sumOf(additions.slice(0, kept), attribute))
        }
      },
    ),
    { numRuns: runs, examples: [[zeroOnTheWayBack, 1, 1]] },
  )
})
