import { describe, expect, it, vi } from 'vitest'
import { handler } from '../../../../functions/user/login-with-password.ts'
import { checkApi, checkChallenge, checkEdge, checkPage } from '../../../../infra/ops/doctor/http.ts'
import { fakeAws } from '../../../support/fake-aws.ts'
import { serveHttp } from '../../../support/serve-http.ts'

const check = <T>(
  perform: (url: string) => Promise<T>,
  { issuer, status = 401, headers = {} }: { issuer?: string; status?: number; headers?: object } = {},
) =>
  serveHttp((request, response) => {
    const base = `http://${request.headers.host ?? ''}`
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': { issuer: issuer ?? base, jwks_uri: `${base}/jwks` },
      '/jwks': { keys: [{ kid: 'one' }] },
    }
    const document = documents[request.url ?? '']
    if (document) response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    else response.writeHead(status, { ...headers }).end()
  }, perform)

it.each([
  ['is kept', { headers: { 'www-authenticate': 'Bearer' } }, true, '401 with www-authenticate: Bearer'],
  ['is missing', {}, false, '401 with www-authenticate: nothing'],
  ['is renamed', { headers: { 'x-amzn-remapped-www-authenticate': 'Bearer' } }, false, '401 with'],
  ['is not sent, because a stranger is let in', { status: 200 }, false, 'is answered 200'],
])('doctor reports a 401 whose www-authenticate header %s', async (_what, api, ok, words) => {
  expect(await check(checkChallenge, api)).toEqual({ ok, words: expect.stringContaining(words) as string })
})

it('doctor accepts an issuer only if it is the address of the API', async () => {
  expect(await check(checkApi)).toMatchObject({ ok: true })
  expect(await check(checkApi, { issuer: 'https://other.example' })).toMatchObject({ ok: false })
})

describe('the authorization page', () => {
  const authUrl = 'https://auth.example.com/in?x=1'
  const checkPageAt = (headers: object, page: string | undefined = authUrl) =>
    check((url) => checkPage(url, page), { status: 204, headers })

  it('doctor is content if the API lets the page’s origin call it', async () => {
    const headers = { 'access-control-allow-origin': 'https://auth.example.com' }
    expect(await checkPageAt(headers)).toMatchObject({ ok: true })
  })

  it.each([
    ['nobody', {}, /lets nobody/],
    [
      'only another origin',
      { 'access-control-allow-origin': 'https://a.example' },
      /lets https:\/\/a\.example/,
    ],
  ])('doctor reports that the API lets %s call it', async (_what, headers, words) => {
    expect(await checkPageAt(headers)).toEqual({ ok: false, words: expect.stringMatching(words) as string })
  })

  it('doctor does not take an unknown address of the page for a good one', async () => {
    expect(await checkPage('http://127.0.0.1:1', undefined)).toMatchObject({ ok: false })
  })
})

describe('the edge', () => {
  const examine = (secret: string, headers: Record<string, string>) =>
    fakeAws(
      (request, response) => {
        void (async () => {
          if (request.url === '/.well-known/jwks.json')
            return response.writeHead(200, headers).end('{"keys":[]}')
          const event: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString())
          return response.end(JSON.stringify(await handler(event as never, {} as never)))
        })()
      },
      (url) => {
        if (secret !== '') vi.stubEnv('ORIGIN_SECRETS', secret)
        return checkEdge(url, '')
      },
    )

  it.each([
    ['is the only way in', 'secret', { 'x-amz-cf-id': 'id' }, true, 'CloudFront answers'],
    ['can be bypassed', '', { 'x-amz-cf-id': 'id' }, false, 'secret is answered 415, not 403'],
    ['is not the public address', 'secret', {}, false, 'is not CloudFront’s'],
  ])('doctor reports that the CloudFront distribution %s', async (_what, secret, headers, ok, words) => {
    expect(await examine(secret, headers as Record<string, string>)).toEqual({
      ok,
      words: expect.stringContaining(words) as string,
    })
  })
})
