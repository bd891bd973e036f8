import { describe, expect, it } from 'vitest'
import { endpointFunctions, type Route, routes } from '../../infra/routes.ts'

const row = (method: Route['method'], permissions: Route['permissions']): Route => ({
  method,
  path: '/things',
  entry: 'things',
  permissions,
})

describe('endpointFunctions', () => {
  it('gives the routes of one entry one function', () => {
    const table: ['GetItem', 'Query'] = ['GetItem', 'Query']
    const both = [row('GET', { table }), row('POST', { table: [...table] })]
    expect(endpointFunctions(both)).toEqual([{ entry: 'things', permissions: { table }, routes: both }])
  })

  it.each([
    ['an action more', { table: ['GetItem', 'PutItem'] }],
    ['another memory size', { table: ['GetItem'], memory: 512 }],
    ['none', {}],
  ] satisfies [string, Route['permissions']][])(
    'refuses a second row of an entry with other permissions: %s',
    (_difference, permissions) => {
      const both = [row('GET', { table: ['GetItem'] }), row('POST', permissions)]
      expect(() => endpointFunctions(both)).toThrow('the routes of things differ in their permissions')
    },
  )

  it('covers every route of the service once', () => {
    const served = endpointFunctions().flatMap((endpoint) => endpoint.routes)
    expect(new Set(served)).toEqual(new Set(routes))
    expect(served).toHaveLength(routes.length)
  })
})
