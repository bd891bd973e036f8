import { describe, expect, it } from 'vitest'
import { entityTag, matchesTag } from '../../../shared/http/public-document.ts'

const tag = entityTag('body')

describe('matchesTag', () => {
  it.each([tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag}`, '*', ' * '])('knows it in %s', (sent) => {
    expect(matchesTag(sent, tag)).toBe(true)
  })

  it.each([undefined, '', '"other"', tag.slice(1, -1), `w/${tag.slice(0, -2)}"`, '"*"'])(
    'does not know it in %s',
    (sent) => {
      expect(matchesTag(sent, tag)).toBe(false)
    },
  )
})

it('gives other bodies other tags, all of them strong', () => {
  expect(entityTag('a')).not.toBe(entityTag('b'))
  expect(entityTag('a')).toMatch(/^"[^"]+"$/)
})
