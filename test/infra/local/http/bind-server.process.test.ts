import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { bindServer, readUrl } from '../../../../infra/local/http/bind-server.ts'
import { stackModel, startStack } from '../aws/stack.ts'

const foreign = [
  'attacker.example',
  'attacker.example:3000',
  '127.0.0.1.attacker.example',
  'localhost.example',
]
const own = ['127.0.0.1', '127.0.0.1:3000', 'localhost:4566', 'LOCALHOST', 'api.localhost:3000', '[::1]:3000']

async function statusesFor(host: string): Promise<(number | undefined)[]> {
  const server = await bindServer(0, '--port')
  onTestFinished(() => server.close())
  server.serve((_request, response) => void response.end('a secret'))
  const { endpoint } = await startStack(stackModel())
  const authorization = 'AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/sts/aws4_request'
  const headers = { host, authorization, 'x-amz-target': 'TrentService.ListKeys' }
  return Promise.all(
    [server.url, endpoint.url].map(async (url) => {
      const sent = request(url, { method: 'POST', headers, agent: false }).end('{}')
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()
      return answer.statusCode
    }),
  )
}

it.each([
  ['login.example.test', 200],
  ['LOGIN.example.test:8443', 200],
  ['a.login.example.test', 403],
  ['login.example.test.attacker.example', 403],
  ['127.0.0.1:3000', 200],
])('behind a proxy, a request with the Host header %s is answered %i', async (host, status) => {
  const server = await bindServer(0, '--port', 'login.example.test')
  onTestFinished(() => server.close())
  server.serve((_request, response) => void response.end('a secret'))
  const sent = request(server.url, { headers: { host }, agent: false }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  expect(answer.statusCode).toBe(status)
})

it.each([
  ['http://[', 400],
  ['http://', 400],
  ['http://127.0.0.1:3000/path', 200],
  ['//[', 200],
  ['/%', 200],
  ['*', 200],
])('a request for the target %s is answered %i', async (path, status) => {
  const server = await bindServer(0, '--port')
  onTestFinished(() => server.close())
  server.serve((message, response) => void response.end(readUrl(message).href))
  const sent = request(server.url, { path, agent: false }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  expect(answer.statusCode).toBe(status)
})

it.each(foreign)('a DNS rebinding request, whose Host header is %s, is refused', async (host) => {
  expect(await statusesFor(host)).toEqual([403, 403])
})

it.each(own)('a request with the Host header %s, a name of this machine, is answered', async (host) => {
  expect(await statusesFor(host)).toEqual([200, 200])
})
