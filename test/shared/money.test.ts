import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Amount, Big, countDecimals, fitsTable, fitsWithDecimals } from '../../shared/money.ts'

it('an amount cannot be made of a double, which would have lost digits already', () => {
  expect(() => new Big(0.1 as never)).toThrow('Invalid')
})

it('two amounts cannot be compared with an operator, which would compare doubles', () => {
  const [one, two] = [new Big('1'), new Big('2')]
  expect(() => one < two).toThrow('valueOf disallowed')
})

it.each([
  ['99999999999999999999.999999999999999999', true],
  ['0.000000000000000001', true],
  ['100000000000000000000', false],
  ['0.0000000000000000001', false],
  ['0', false],
  ['-1', false],
  ['1e5', false],
])('the amount %s is valid: %s', (digits, isValid) => {
  expect(v.is(Amount, digits)).toBe(isValid)
})

it.each([
  ['1', 0],
  ['100', 0],
  ['1.5', 1],
  ['0.000000000000000001', 18],
])('%s has %i decimals', (digits, decimals) => {
  expect(countDecimals(new Big(digits))).toBe(decimals)
})

it.each([
  ['9'.repeat(38), true],
  [`1${'0'.repeat(37)}`, true],
  [`1${'0'.repeat(38)}`, false],
  [`${'9'.repeat(20)}.${'9'.repeat(18)}`, true],
  [`${'9'.repeat(21)}.${'9'.repeat(18)}`, false],
])('the table stores %s exactly: %s', (digits, fits) => {
  expect(fitsTable(new Big(digits))).toBe(fits)
})

it.each([
  ['9'.repeat(20), 18, true],
  ['9'.repeat(20), 19, false],
  ['0.5', 38, true],
  ['0.5', 39, false],
])('the table could store %s with %i decimals: %s', (digits, decimals, fits) => {
  expect(fitsWithDecimals(new Big(digits), decimals)).toBe(fits)
})
