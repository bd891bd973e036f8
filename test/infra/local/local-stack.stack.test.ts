import { expect, it } from 'vitest'
import { useLocalStack } from '../../support/local-stack.ts'

it('/_local/stack names the addresses and the resources of the local stack', async () => {
  const stack = await useLocalStack()
  expect(stack).toMatchObject({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    aws_endpoint: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    event_bus: 'account-service',
    table: 'account-service',
    first_party_client_id: 'first-party',
  })
  expect(stack.auth_url).toBe(`${stack.page_url}/`)
  expect(stack.functions).toContainEqual({ name: 'fallback', route: '$default' })
  expect(stack.dead_letter_queues).toContainEqual({
    name: 'user-registered-dead-letters',
    url: `${stack.aws_endpoint}/000000000000/user-registered-dead-letters`,
  })
})

it.each([
  ['/_local/', 200, 'text/html; charset=utf-8'],
  ['/_local/main.js', 200, 'text/javascript; charset=utf-8'],
  ['/_local/outbox?to=nobody@example.com', 200, 'application/json'],
  ['/_local/..%2fmodel.ts', 404, 'application/json'],
  ['/_local/nowhere', 404, 'application/json'],
])('the local stack answers %s with status %i', async (path, status, type) => {
  const { base_url: baseUrl } = await useLocalStack()
  const response = await fetch(baseUrl + path)
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toBe(type)
})

it('the API reference of the local stack loads nothing from other sites', async () => {
  const { base_url: baseUrl } = await useLocalStack()
  const read = async (path: string) => (await fetch(`${baseUrl}/_local/docs/${path}`)).text()
  expect(await read('')).toContain('<redoc')
  expect(await read('redoc.js')).not.toContain('cdn.redoc.ly')
  expect(JSON.parse(await read('openapi.json'))).toMatchObject({ openapi: '3.1.0' })
  expect(JSON.parse(await read('../asyncapi.json'))).toMatchObject({ asyncapi: '3.0.0' })
})
