import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decideReservation, searchBudget, type Spending } from '../../../shared/community/search-budget.ts'

/** Tries reservations at given instants, in order. Returns those that were granted. */
function reserveAll(tries: readonly { after: number; units: number }[]) {
  let now = 1_767_225_600_000
  let spent: Spending[] = []
  const granted: { at: number; units: number }[] = []
  for (const { after, units } of tries) {
    now += after
    const decision = decideReservation(spent, units, now)
    if ('retryAfterSeconds' in decision) {
      expect(decision.retryAfterSeconds).toBeGreaterThan(0)
      expect(decision.retryAfterSeconds).toBeLessThanOrEqual(61)
      if (units > searchBudget.readUnits) continue
      const then = now + decision.retryAfterSeconds * 1_000
      expect(decideReservation(spent, units, then)).toHaveProperty('spent')
      expect(decideReservation(spent, units, then - 1_000)).toHaveProperty('retryAfterSeconds')
      continue
    }
    spent = decision.spent
    granted.push({ at: now, units })
  }
  return { granted, spent }
}

const tries = fc.array(
  fc.record({ after: fc.nat(20_000), units: fc.oneof(fc.nat(500), fc.integer({ min: 1, max: 5_100 })) }),
  { maxLength: 60 },
)

it('no period of a minute costs more than the budget, and a refused search may come after Retry-After', () => {
  fc.assert(
    fc.property(tries, (all) => {
      const { granted } = reserveAll(all)
      for (const { at } of granted) {
        const minute = granted.filter((other) => other.at >= at && other.at < at + searchBudget.milliseconds)
        expect(minute.reduce((sum, { units }) => sum + units, 0)).toBeLessThanOrEqual(searchBudget.readUnits)
      }
    }),
    { numRuns: 1000 },
  )
})

it('the whole budget may be spent at once, and again a minute later', () => {
  expect(
    reserveAll([
      { after: 0, units: 5_000 },
      { after: 999, units: 1 },
      { after: 61_000, units: 5_000 },
    ]).granted,
  ).toHaveLength(2)
})

it('a search that costs more than the whole budget is refused for a minute', () => {
  expect(decideReservation([], 5_001, 0)).toEqual({ retryAfterSeconds: 60 })
})

it('what is older than a minute is forgotten, and one second has one entry', () => {
  const steps = Array.from({ length: 500 }, () => ({ after: 700, units: 1 }))
  const { spent } = reserveAll(steps)
  expect(spent.length).toBeLessThanOrEqual(62)
  expect(new Set(spent.map(({ second }) => second)).size).toBe(spent.length)
})
