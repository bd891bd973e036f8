import { afterEach, expect, it } from 'vitest'
import { itemType, itemTypes } from '../../../shared/db/item-type.ts'

const spec = { pk: 'NOTE#{owner}', sk: 'ROW#{day}#{number}', holds: 'a test', found: 'by owner' } as const

const declared = itemTypes.length
afterEach(() => void itemTypes.splice(declared))

it('itemType builds a key by replacing each name in braces with its value', () => {
  const type = itemType(spec)
  expect(type.key({ owner: 7, day: '2026-01-01', number: 1 })).toEqual({
    pk: 'NOTE#7',
    sk: 'ROW#2026-01-01#1',
  })
  expect(type.partition({ owner: 7 })).toBe('NOTE#7')
  expect(type.sortKeyPrefix).toBe('ROW#')
})

it('itemType inserts a value with braces or dollar signs literally into a key', () => {
  const key = itemType(spec).key({ owner: '{day}$&', day: '$1', number: 1 })
  expect(key).toEqual({ pk: 'NOTE#{day}$&', sk: 'ROW#$1#1' })
})

it('every declared kind of item is in the list of item types', () => {
  itemType(spec)
  expect(itemTypes).toContain(spec)
})
