import { describe, expect, it } from 'vitest'
import { endpointFunctions } from '../../infra/endpoint-functions.ts'
import { type Route, routes } from '../../infra/routes.ts'

const row = (method: Route['method'], permissions: Route['permissions']): Route => ({
  method,
  path: '/things',
  entry: 'things',
  permissions,
})

describe('endpointFunctions', () => {
  it('routes with the same entry share one function', () => {
    const table: Route['permissions']['table'] = { GetItem: ['RATES'], Query: ['EARN#'] }
    const both = [row('GET', { table }), row('POST', { table: { ...table } })]
    expect(endpointFunctions(both)).toEqual([
      { entry: 'things', canary: false, permissions: { table }, routes: both },
    ])
  })

  it.each([
    ['one more action', { table: { GetItem: ['RATES'], PutItem: ['RATES'] } }],
    ['one more partition', { table: { GetItem: ['RATES', 'W#'] } }],
    ['another memory size', { table: { GetItem: ['RATES'] }, memory: 512 }],
    ['no permissions', {}],
  ] satisfies [string, Route['permissions']][])(
    'two routes of one entry with different permissions are rejected: %s',
    (_difference, permissions) => {
      const both = [row('GET', { table: { GetItem: ['RATES'] } }), row('POST', permissions)]
      expect(() => endpointFunctions(both)).toThrow('the routes of things differ in their permissions')
    },
  )

  it('every route of the service belongs to exactly one function', () => {
    const served = endpointFunctions().flatMap((endpoint) => endpoint.routes)
    expect(new Set(served)).toEqual(new Set(routes))
    expect(served).toHaveLength(routes.length)
  })
})
