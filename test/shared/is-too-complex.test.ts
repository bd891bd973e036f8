import { describe, expect, it } from 'vitest'
import { maxDepth, maxValues, isTooComplex } from '../../shared/is-too-complex.ts'

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + '1' + close.repeat(depth)
const elements = (count: number) => `[${Array(count).fill('1').join(',')}]`

describe('an event that would be too expensive to parse', () => {
  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])(
    'an event with %s is accepted at the depth limit, and refused one level deeper',
    (_what, open, close) => {
      expect(isTooComplex(nested(maxDepth, open, close))).toBe(false)
      expect(isTooComplex(nested(maxDepth + 1, open, close))).toBe(true)
    },
  )

  it('an event with the maximum number of values passes, and an event with one more value is refused', () => {
    expect(isTooComplex(elements(maxValues))).toBe(false)
    expect(isTooComplex(elements(maxValues + 1))).toBe(true)
  })

  it('brackets and commas inside a JSON string are not counted, and an escaped quote does not end the string', () => {
    const text = `\\"${'[,'.repeat(maxValues)}\\\\`
    expect(isTooComplex(JSON.stringify({ [text]: text }))).toBe(false)
    expect(isTooComplex(`["\\\\"${',1'.repeat(maxValues)}]`)).toBe(true)
  })
})
