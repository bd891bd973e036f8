import { expect, it } from 'vitest'
import { findLimits } from './limits.ts'

it('the limits of a number are tried, and one before and after each', () => {
  expect(findLimits({ type: 'integer', minimum: 1, maximum: 20 }, '1').numbers).toEqual([0, 1, 2, 19, 20, 21])
})

it('the limits of a length are tried, also those of a pattern and of an alternative', () => {
  expect(findLimits({ type: 'string', maxLength: 3 }, 'ab').texts).toEqual(['ab', 'abb', 'abbb'])
  expect(findLimits({ pattern: '^[a-z]{1,2}$' }, 'ab').texts).toEqual(['', 'a', 'ab', 'abb'])
  expect(findLimits({ anyOf: [{ type: 'string', minLength: 2 }, { const: '' }] }, 'ab').texts).toContain('a')
})

it('fixed values are tried, and texts that resemble them', () => {
  expect(findLimits({ enum: ['Id'] }, 'Id').texts).toEqual(['Id', 'Idx', 'id'])
})
