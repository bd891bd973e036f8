import { expect, it } from 'vitest'
import { checkLines, type Line } from './lines.ts'

const line = (limit: number, reached: boolean): Line => ({
  figure: `at most ${limit}`,
  line: limit,
  reached,
  now: (find) => find('costs', 'a bill', 'units'),
})
const tables = [{ name: 'costs', title: '', notes: [], rows: [{ operation: 'a bill', units: 16 }] }]
const check = (lines: Line[]) => {
  const { table, broken } = checkLines(tables, lines)
  return { states: table.rows.map(({ state }) => state), broken }
}

it('a line that was reached and is broken fails the check', () => {
  expect(check([line(15, true)])).toEqual({ states: ['BROKEN'], broken: ['at most 15'] })
})

it('a line that is kept or not reached yet does not fail the check', () => {
  expect(check([line(16, true), line(16, false), line(15, false)])).toEqual({
    states: ['kept', 'kept', 'open'],
    broken: [],
  })
})

it('a figure whose part did not run is not reported as kept', () => {
  const other: Line = { ...line(1, true), now: (find) => find('pages', 'a page', 'units') }
  expect(check([other])).toEqual({ states: ['not measured'], broken: [] })
})

it('a figure that was reached and is in no row any more fails the check', () => {
  const renamed: Line = { ...line(1, true), now: (find) => find('costs', 'a page', 'units') }
  expect(check([renamed])).toEqual({ states: ['MISSING'], broken: ['at most 1'] })
  expect(check([{ ...renamed, whole: true }])).toEqual({ states: ['not measured'], broken: [] })
})

it('a line that depends on the speed of the machine does not fail the check', () => {
  expect(check([{ ...line(15, true), timed: true }])).toEqual({ states: ['open'], broken: [] })
})
