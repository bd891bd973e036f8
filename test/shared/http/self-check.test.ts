import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { expect, it, vi } from 'vitest'
import type { Endpoint } from '../../../shared/http/endpoint.ts'
import { withSelfCheck } from '../../../shared/http/self-check.ts'
import { getEvent } from '../../support/get-event.ts'

const description = { scope: 'public' } as Endpoint['description']

function make() {
  const answer = vi.fn(async () => ({ statusCode: 200 }))
  const check = vi.fn(async () => ({ healthy: true }))
  const handler = withSelfCheck(Object.assign(answer, { description }), check)
  const call = (event: unknown) => handler(event as APIGatewayProxyEventV2, {} as Context)
  return { handler, answer, check, call }
}

it('a self-check is answered with the result of the check, and reaches no endpoint', async () => {
  const { answer, call } = make()
  expect(await call({ action: 'self-check' })).toEqual({ healthy: true })
  expect(answer).not.toHaveBeenCalled()
})

it.each([
  ['a request with the body of a self-check', { ...getEvent('/'), body: '{"action":"self-check"}' }],
  ['a request with the member of a self-check', { ...getEvent('/'), action: 'self-check' }],
  ['another action', { action: 'other' }],
])('%s reaches the endpoint, and no check runs', async (_what, event) => {
  const { check, call } = make()
  expect(await call(event)).toEqual({ statusCode: 200 })
  expect(check).not.toHaveBeenCalled()
})

it('an endpoint with a self-check keeps its description', () => {
  expect(make().handler.description).toBe(description)
})
