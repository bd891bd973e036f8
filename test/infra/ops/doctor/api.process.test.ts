import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { checkApi, checkChallenge } from '../../../../infra/ops/doctor/api.ts'

/** Serves an API with these headers on a 401, and with this issuer instead of its own address. */
async function serve(
  challenge: Record<string, string>,
  { issuer, status = 401 }: { issuer?: string; status?: number } = {},
) {
  const server = createServer((request, response) => {
    const base = `http://${request.headers.host ?? ''}`
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': { issuer: issuer ?? base, jwks_uri: `${base}/jwks` },
      '/jwks': { keys: [{ kid: 'one' }] },
    }
    const document = documents[request.url ?? '']
    if (document) response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    else response.writeHead(status, challenge).end()
  })
  server.listen(0, '127.0.0.1').unref()
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it.each([
  [
    'is kept',
    { 'www-authenticate': 'Bearer' },
    {},
    { ok: true, words: 'a 401 carries www-authenticate: Bearer' },
  ],
  [
    'is renamed',
    { 'x-amzn-remapped-www-authenticate': 'Bearer' },
    {},
    { ok: false, words: expect.stringContaining('x-amzn-remapped-www-authenticate instead') as string },
  ],
  ['is missing', {}, {}, { ok: false, words: 'a 401 carries no www-authenticate' }],
  [
    'is not needed, since a stranger is let in',
    {},
    { status: 200 },
    { ok: false, words: '/account/info without a token is answered 200' },
  ],
])(
  'doctor says whether the www-authenticate header of a 401 %s',
  async (_what, headers, options, finding) => {
    expect(await checkChallenge(await serve(headers, options))).toEqual(finding)
  },
)

it('doctor accepts an issuer only if it is the address of the API', async () => {
  const address = await serve({})
  expect(await checkApi(address)).toEqual({
    ok: true,
    words: `${address} answers; issuer ${address}, 1 public keys`,
  })
  expect((await checkApi(await serve({}, { issuer: 'https://other.example' }))).ok).toBe(false)
})

it('doctor names the option --base-url where the address of the API is not known', async () => {
  for (const check of [checkApi, checkChallenge])
    expect(await check(undefined)).toEqual({
      ok: false,
      words: expect.stringContaining('--base-url') as string,
    })
})
