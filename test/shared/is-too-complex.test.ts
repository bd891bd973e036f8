import { describe, expect, it } from 'vitest'
import { maxDepth, maxValues, isTooComplex } from '../../shared/is-too-complex.ts'

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + '1' + close.repeat(depth)
const elements = (count: number) => `[${Array(count).fill('1').join(',')}]`

describe('an event that would be too expensive to parse', () => {
  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('an event with %s at the depth limit passes, and one level deeper does not', (_what, open, close) => {
    expect(isTooComplex(nested(maxDepth, open, close))).toBe(false)
    expect(isTooComplex(nested(maxDepth + 1, open, close))).toBe(true)
  })

  it('an event with the maximum number of values passes, and with one more value does not', () => {
    expect(isTooComplex(elements(maxValues))).toBe(false)
    expect(isTooComplex(elements(maxValues + 1))).toBe(true)
  })

  it('brackets and commas in a text of an event do not count, and an escaped quote does not end the text', () => {
    const text = `\\"${'[,'.repeat(maxValues)}\\\\`
    expect(isTooComplex(JSON.stringify({ [text]: text }))).toBe(false)
    expect(isTooComplex(`["\\\\"${',1'.repeat(maxValues)}]`)).toBe(true)
  })
})
