import { describe, expect, it } from 'vitest'
import { maxDepth, maxValues, isTooComplex } from '../../shared/is-too-complex.ts'

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + '1' + close.repeat(depth)
const elements = (count: number) => `[${Array(count).fill('1').join(',')}]`

describe('an event that would be too expensive to parse', () => {
  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('an event may have %s down to the depth limit, but not one level deeper', (_what, open, close) => {
    expect(isTooComplex(nested(maxDepth, open, close))).toBe(false)
    expect(isTooComplex(nested(maxDepth + 1, open, close))).toBe(true)
  })

  it('an event may have the maximum number of values, but not one more', () => {
    expect(isTooComplex(elements(maxValues))).toBe(false)
    expect(isTooComplex(elements(maxValues + 1))).toBe(true)
  })

  it('brackets and commas inside a JSON string are not counted', () => {
    const text = `\\"${'[,'.repeat(maxValues)}\\\\`
    expect(isTooComplex(JSON.stringify({ [text]: text }))).toBe(false)
  })

  it('an escaped quote does not end a JSON string, but a quote after an escaped backslash does', () => {
    expect(isTooComplex(JSON.stringify(`"${'[,'.repeat(maxValues)}`))).toBe(false)
    expect(isTooComplex(`["\\\\"${',1'.repeat(maxValues)}]`)).toBe(true)
  })
})
