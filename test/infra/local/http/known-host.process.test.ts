import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bindServer, type BoundServer } from '../../../../infra/local/http/bind-server.ts'
import { stackModel, startStack } from '../aws/stack.ts'

let server: BoundServer

beforeAll(async () => {
  server = await bindServer(0, '--port')
  server.serve((_request, response) => void response.end('a secret'))
})
afterAll(() => server.close())

/** The status of a server for a request with this Host header. */
async function statusFor(url: string, host: string): Promise<number | undefined> {
  const sent = request(url, { headers: { host }, agent: false }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

const foreign = [
  'attacker.example',
  'attacker.example:3000',
  '127.0.0.1.attacker.example',
  'localhost.example',
]
const own = ['127.0.0.1', '127.0.0.1:3000', 'localhost:4566', 'LOCALHOST', 'api.localhost:3000', '[::1]:3000']

describe('a page that reaches this machine by DNS rebinding', () => {
  it.each(foreign)('the API answers a request for the host %s', async (host) => {
    expect(await statusFor(server.url, host)).toBe(403)
  })

  it.each(own)('the API refuses a request for the host %s, which is this machine', async (host) => {
    expect(await statusFor(server.url, host)).toBe(200)
  })

  it('the AWS endpoint answers a request for another host', async () => {
    const { endpoint } = await startStack(stackModel())
    const signed = 'AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/sts/aws4_request'
    const ask = async (host: string) => {
      const headers = { host, authorization: signed, 'x-amz-target': 'TrentService.ListKeys' }
      const sent = request(endpoint.url, { method: 'POST', headers, agent: false }).end('{}')
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()
      return answer.statusCode
    }
    expect(await ask('localhost:4566')).toBe(200)
    for (const host of foreign) expect(await ask(host)).toBe(403)
  })
})
