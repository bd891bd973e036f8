import { expect, it } from 'vitest'
import { useLocalStack } from '../../support/local-stack.ts'

it('/_local/stack lists the addresses and the resources of the local stack', async () => {
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

it('the local stack serves the AsyncAPI document and an API reference that needs no other site', async () => {
  const { base_url: baseUrl } = await useLocalStack()
  const read = (path: string) => fetch(`${baseUrl}/_local/${path}`)
  const policy = (await read('docs/')).headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe|http|blob|\*/)
  expect(await (await read('docs/openapi.json')).json()).toMatchObject({ openapi: '3.1.0' })
  expect(await (await read('asyncapi.json')).json()).toMatchObject({ asyncapi: '3.0.0' })
})

it.each([
  [415, 'a page of another site', 'text/plain', 'keys status'],
  [400, 'a command that works on another deployment', 'application/json', '--stage prod keys status'],
  [400, 'a command that reads a file', 'application/json', 'events put /etc/passwd'],
  [200, 'a command that the console knows', 'application/json', 'keys status'],
])('the console answers with status %i to %s', async (status, _, type, command) => {
  const { base_url: baseUrl } = await useLocalStack()
  const request = { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify({ command }) }
  expect((await fetch(`${baseUrl}/_local/ops`, request)).status).toBe(status)
})
