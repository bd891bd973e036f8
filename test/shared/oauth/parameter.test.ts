import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Parameter } from '../../../shared/oauth/parameter.ts'

it.each([
  [undefined, undefined],
  ['', undefined],
  ['a b 😀', 'a b 😀'],
])('the OAuth parameter %j is read as %j', (sent, read) => {
  expect(v.parse(Parameter, sent)).toBe(read)
})

it.each(['a\ud800', '\udc00', null, 1])('the OAuth parameter %j is refused', (sent) => {
  expect(v.is(Parameter, sent)).toBe(false)
})
