import { expect, it } from 'vitest'
import { isSameSecret } from '../../shared/is-same-secret.ts'

it.each([
  ['secret', true],
  ['secreT', false],
  ['secre', false],
  ['secrets', false],
  ['', false],
])('isSameSecret of “secret” with “%s” is %s', (other, same) => {
  expect(isSameSecret('secret', other)).toBe(same)
  expect(isSameSecret(other, 'secret')).toBe(same)
})
