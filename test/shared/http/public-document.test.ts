import { describe, expect, it } from 'vitest'
import { entityTag, matchesTag } from '../../../shared/http/public-document.ts'

const tag = entityTag('body')

describe('matchesTag', () => {
  it.each([tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag}`, '*', ' * '])(
    'the if-none-match header %s matches the current ETag',
    (sent) => {
      expect(matchesTag(sent, tag)).toBe(true)
    },
  )

  it.each([undefined, '', '"other"', tag.slice(1, -1), `w/${tag.slice(0, -2)}"`, '"*"'])(
    'the if-none-match header %s does not match the current ETag',
    (sent) => {
      expect(matchesTag(sent, tag)).toBe(false)
    },
  )
})

it('different bodies have different, strong ETags', () => {
  expect(entityTag('a')).not.toBe(entityTag('b'))
  expect(entityTag('a')).toMatch(/^"[^"]+"$/)
})
