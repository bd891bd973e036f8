import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { pageOf, pageQuery, toPage } from '../../shared/page.ts'

const Query = v.object(pageQuery)

describe('the query parameters of a page', () => {
  it('page parameters are converted to numbers', () => {
    const largest = { current: '2147483647', size: '20' }
    expect(v.parse(Query, largest)).toEqual({ current: 2_147_483_647, size: 20 })
    expect(v.is(Query, { current: '1', size: '1' })).toBe(true)
  })

  it.each([
    { current: '1' },
    { size: '1' },
    { current: '0', size: '20' },
    { current: '1', size: '0' },
    { current: '1', size: '21' },
    { current: '-1', size: '20' },
    { current: '1.5', size: '20' },
    { current: '1e1', size: '20' },
    { current: ' 1', size: '20' },
    { current: '01', size: '20' },
    { current: '2147483648', size: '20' },
    { current: '99999999999', size: '20' },
  ])('the page parameters %j are refused', (query) => {
    expect(v.is(Query, query)).toBe(false)
  })
})

describe('toPage', () => {
  it.each([
    [0, 20, 0],
    [1, 20, 1],
    [20, 20, 1],
    [21, 20, 2],
    [7, 3, 3],
  ])('toPage counts %d records with %d on a page as %d pages', (total, size, pages) => {
    const page = toPage([], total, { current: 9, size })
    expect(page).toEqual({ records: [], total, size, current: 9, pages })
    expect(v.is(pageOf(v.string()), page)).toBe(true)
  })
})
