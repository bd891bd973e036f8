import { expect, it } from 'vitest'
import { isSameSecret } from '../../shared/is-same-secret.ts'

it.each([
  ['secret', true],
  ['secreT', false],
  ['secre', false],
  ['secrets', false],
  ['', false],
])('isSameSecret compares the whole of “secret” and “%s”, and returns %s', (other, same) => {
  expect(isSameSecret('secret', other)).toBe(same)
  expect(isSameSecret(other, 'secret')).toBe(same)
})
