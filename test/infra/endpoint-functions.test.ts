import { describe, expect, it } from 'vitest'
import { endpointFunctions } from '../../infra/endpoint-functions.ts'
import type { Route } from '../../infra/routes.ts'

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

  it('two routes of one entry with different permissions are rejected', () => {
    const table = { GetItem: ['RATES'] } as const
    for (const other of [{ table: { ...table, PutItem: ['RATES'] } }, { table, memory: 512 }, {}] as const)
      expect(() => endpointFunctions([row('GET', { table }), row('POST', other)])).toThrow('differ in their')
  })
})
