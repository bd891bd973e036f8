import { expect, it } from 'vitest'
import { endpointFunctions } from '../../infra/endpoint-functions.ts'
import type { Route } from '../../infra/routes.ts'

const row = (method: Route['method'], permissions: Route['permissions']): Route => ({
  method,
  path: '/things',
  entry: 'things',
  permissions,
})

it('routes with the same entry file share one Lambda function', () => {
  const permissions: Route['permissions'] = { reads: ['EARN#', 'RATES'] }
  const both = [row('GET', permissions), row('POST', { ...permissions })]
  expect(endpointFunctions(both)).toEqual([{ entry: 'things', permissions, routes: both }])
})

it('two routes with one entry file but different permissions are rejected', () => {
  const permissions = { reads: ['RATES'] } as const
  for (const other of [{ ...permissions, writes: ['RATES'] }, { ...permissions, memory: 512 }, {}] as const)
    expect(() => endpointFunctions([row('GET', permissions), row('POST', other)])).toThrow('differ in their')
})
