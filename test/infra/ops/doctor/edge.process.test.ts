import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { handler } from '../../../../functions/user/login-with-password.ts'
import { checkEdge } from '../../../../infra/ops/doctor/edge.ts'

afterEach(() => void vi.unstubAllEnvs())

/** Serves an edge with these headers, and Lambda with the real sign-in function behind it. */
async function serve(headers: Record<string, string>): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url === '/.well-known/jwks.json') return response.writeHead(200, headers).end('{"keys":[]}')
      const event: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString())
      return response.end(JSON.stringify(await handler(event as never, {} as never)))
    })()
  })
  server.listen(0, '127.0.0.1').unref()
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubEnv('AWS_ENDPOINT_URL', url)
  return url
}

const byCloudFront = { 'x-amz-cf-id': 'id' }

it('doctor finds an edge that is the only way in', async () => {
  vi.stubEnv('ORIGIN_SECRETS', 'secret')
  const baseUrl = await serve(byCloudFront)
  expect(await checkEdge({ baseUrl, namePrefix: '' })).toMatchObject({ ok: true })
})

it('doctor finds functions that let in what did not come through the edge', async () => {
  const baseUrl = await serve(byCloudFront)
  expect(await checkEdge({ baseUrl, namePrefix: '' })).toEqual({
    ok: false,
    words: 'a request without the edge’s secret is answered 415, not 403',
  })
})

it('doctor finds a public address that is not the edge’s, and one that is not known', async () => {
  vi.stubEnv('ORIGIN_SECRETS', 'secret')
  const baseUrl = await serve({})
  expect(await checkEdge({ baseUrl, namePrefix: '' })).toEqual({
    ok: false,
    words: `${baseUrl} is not CloudFront’s`,
  })
  expect((await checkEdge({ baseUrl: undefined, namePrefix: '' })).ok).toBe(false)
})
