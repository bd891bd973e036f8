import { expect, it } from 'vitest'
import { asyncApiDocument } from '../../../infra/openapi/asyncapi.ts'
import { openApiDocument } from '../../../infra/openapi/document.ts'
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'

/** An escape that all languages read alike: a punctuation mark, or an ASCII character by its code. */
const commonEscape = /\\(?:[^A-Za-z0-9]|x[0-7][0-9a-f])/g

/**
 * Whether a pattern means the same in all languages, also where texts are bytes (PHP): it is ASCII, without
 * classes such as `\s`, look-around, and a bracket in brackets (Java: a nested class).
 */
const isPortable = (pattern: string): boolean => {
  const bare = pattern.replaceAll(commonEscape, '_')
  return /^[\x20-\x7e]*$/.test(pattern) && !/\\|\(\?|\[[^\]]*\[|&&/.test(bare)
}

const patternsOf = (document: object): string[] => {
  const patterns = new Set<string>()
  JSON.stringify(document, (_, part: JsonSchema | null) => {
    if (typeof part?.['pattern'] === 'string') patterns.add(part['pattern'])
    return part
  })
  return [...patterns]
}

it('every pattern in the references of API and events has one meaning in all languages', async () => {
  for (const document of [await openApiDocument(), await asyncApiDocument()]) {
    const patterns = patternsOf(document)
    expect(patterns.length).toBeGreaterThan(4)
    expect(patterns.filter((pattern) => !isPortable(pattern))).toEqual([])
  }
})

it.each([
  ['another character than ASCII', '^[^\u2028]*$'],
  ['bytes above ASCII', String.raw`^[^\x7f-\x9f]*$`],
  ['a code point', String.raw`^\u00e9$`],
  ['a class that depends on the language', String.raw`^\s*$`],
  ['digits of any script', String.raw`^\d$`],
  ['a property', String.raw`\p{L}`],
  ['look-behind', '(?<=a)b'],
  ['a bracket in brackets', '^[a[b]$'],
])('a pattern with %s is not taken for a portable one', (_what, pattern) => {
  expect(isPortable(pattern)).toBe(false)
})
