import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, it } from 'vitest'
import { demoUsers } from '../../infra/local/demo/demo-users.ts'
import { createClient, createSession, issueClientToken } from '../support/oauth-clients.ts'
import { address } from '../support/oauth.ts'
import { createAccessToken } from '../support/community.ts'

/** A text that occurs in requests, for example as a parameter name, and must not appear in any answer. */
const marker = 'zzmarkerzz'

interface Sent {
  method?: string
  path?: string
  headers?: readonly (readonly [string, string])[]
  body?: string | Buffer
}

/** Sends a request exactly as given, unlike fetch. */
async function send({ method = 'GET', path = '/account/info', headers = [], body }: Sent) {
  const { hostname, port } = new URL(address('/'))
  const length = [['content-length', String(Buffer.byteLength(body ?? ''))]]
  const all = [['host', `${hostname}:${port}`], ...headers, ...(body === undefined ? [] : length)].flat()
  const answered = Promise.withResolvers<{ status: number; code: unknown }>()
  const sent = request({ hostname, port, method, path, headers: all, agent: false }, (response) => {
    void text(response).then((answer) => {
      expect(answer).not.toContain(marker)
      expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': /./ })
      const { code } = (method === 'HEAD' ? {} : JSON.parse(answer)) as { code?: number }
      answered.resolve({ status: response.statusCode ?? 0, code })
    }, answered.reject)
  })
  sent.once('error', answered.reject).end(body)
  return answered.promise
}

let token = ''
let ofClient = ''
let narrow = ''
let expired = ''
let referral = 0

beforeAll(async () => {
  const session = await createSession()
  token = session.accessToken
  ofClient = await issueClientToken(session, await createClient())
  narrow = await createAccessToken(session.userId, ['openid'])
  expired = (await createSession(-10)).accessToken
  referral = demoUsers[1]?.user_id ?? 0
})

it.each<[what: string, authorization: () => string, code: number]>([
  ['a token', () => `Bearer ${token}`, 0],
  ['the scheme in another case', () => `bEARER ${token}`, 0],
  ['nothing', () => '', 40100],
  ['the scheme alone', () => 'Bearer', 40100],
  ['another scheme', () => `Token ${token}`, 40100],
  ['two tokens', () => `Bearer ${token} ${token}`, 40100],
  ['a longer token', () => `Bearer ${token}x`, 40100],
  ['a shorter token', () => `Bearer ${token.slice(0, -1)}`, 40100],
  ['a long text', () => `Bearer ${marker.repeat(300)}`, 40100],
  ['Basic without a name', () => 'Basic Og==', 40100],
  ['Basic that is no base64', () => 'Basic %%%', 40100],
  ['an expired token', () => `Bearer ${expired}`, 40100],
  ['a token without the scope', () => `Bearer ${narrow}`, 40300],
  ['a client’s token without the scope', () => `Bearer ${ofClient}`, 40300],
])(
  'an Authorization header must have one valid access_token with the required scope (sent: %s)',
  async (_what, authorization, code) => {
    expect(await send({ headers: [['authorization', authorization()]] })).toMatchObject({ code })
  },
)

const bills = '/account/bills?current=1&size=20'
it.each<[what: string, sent: Sent, status: number]>([
  ['an unknown parameter', { path: `${bills}&${marker}=${marker}` }, 200],
  ['a parameter named __proto__', { path: `${bills}&__proto__=${marker}&constructor=1` }, 200],
  ['the smallest page', { path: '/account/bills?current=1&size=1' }, 200],
  ['no size', { path: '/account/bills?current=1' }, 400],
  ['a size of 0', { path: '/account/bills?current=1&size=0' }, 400],
  ['a size of 21', { path: '/account/bills?current=1&size=21' }, 400],
  ['no current', { path: '/account/bills?size=20' }, 400],
  ['a page of 0', { path: '/account/bills?current=0&size=20' }, 400],
  ['a negative page', { path: '/account/bills?current=-1&size=20' }, 400],
  ['the last page of int32', { path: '/account/bills?current=2147483647&size=20' }, 200],
  ['a page after int32', { path: '/account/bills?current=2147483648&size=20' }, 400],
  ['a space before the page', { path: '/account/bills?current=%201&size=20' }, 400],
  ['a leading zero', { path: '/account/bills?current=01&size=20' }, 400],
  ['a fraction', { path: '/account/bills?current=1.0&size=20' }, 400],
  ['an exponent', { path: '/account/bills?current=1e0&size=20' }, 400],
  ['a repeated parameter', { path: `${bills}&size=20` }, 400],
  ['a repeated long name', { path: `${bills}&${marker.repeat(5)}=1&${marker.repeat(5)}=2` }, 400],
  ['a date that does not exist', { path: `${bills}&beginTime=2025-02-29` }, 400],
  ['a date before the epoch', { path: `${bills}&beginTime=1095-09-01` }, 200],
  ['a begin date after the end date', { path: `${bills}&beginTime=2026-01-02&endTime=2026-01-01` }, 400],
  ['a NUL', { path: `${bills}&currency=%00` }, 200],
  ['bytes that are no UTF-8', { path: `${bills}&currency=%ff%fe` }, 200],
  ['a broken percent-encoding', { path: `${bills}&currency=%zz` }, 200],
  ['a header that overrides the method', { headers: [['x-http-method-override', 'DELETE']] }, 200],
  ['two tokens in two headers', { headers: [['authorization', `Bearer ${marker}`]] }, 401],
  ['a strange Accept', { headers: [['accept', ';;;q=NaN']] }, 200],
  ['an X-Forwarded-For header', { headers: [['x-forwarded-for', `${marker}, 10.0.0.1`]] }, 200],
  ['a cookie', { headers: [['cookie', `session=${marker}; __proto__=1`]] }, 200],
  ['an unexpected body', { body: `{"${marker}":1}` }, 200],
  ['a large unexpected body', { body: 'x'.repeat(70_000) }, 413],
  ['another method', { method: 'PUT' }, 405],
  ['HEAD', { method: 'HEAD' }, 405],
  ['a slash at the end', { path: '/account/info/' }, 404],
  ['capital letters', { path: '/ACCOUNT/INFO' }, 404],
  ['an encoded slash', { path: '/account%2Finfo' }, 404],
  ['an unknown path', { path: `/${marker}` }, 404],
])('a signed-in user’s request with %s is answered as the contract says', async (_what, sent, status) => {
  const headers = [['authorization', `Bearer ${token}`] as const, ...(sent.headers ?? [])]
  expect(await send({ ...sent, headers })).toMatchObject({ status })
})

const note = (text: string, more = '') => `{"target_user_id":${referral},"note":${text}${more}}`
const long = (bytes: number) => {
  const body = note('"x"')
  return body.replace(/\}$/, `${' '.repeat(bytes - Buffer.byteLength(body))}}`)
}
// The body was accepted, but a caller without referrals cannot write notes.
const isRead = 40301
it.each<[what: string, body: () => string | Buffer, code: number, type?: string]>([
  ['valid content', () => note('"met in Lisbon"'), isRead],
  ['a charset', () => note('""'), isRead, 'application/json; charset=utf-8'],
  ['the type in capitals and a space', () => note('""'), isRead, 'Application/JSON ; charset=utf-8'],
  ['another type', () => note('""'), 41500, 'text/plain'],
  ['two types', () => note('""'), 41500, 'application/json, text/plain'],
  ['a JSON type other than application/json', () => note('""'), 41500, 'application/vnd.api+json'],
  ['a type that begins with application/json', () => note('""'), 41500, 'application/jsonx'],
  ['a form', () => 'note=a', 41500, 'application/x-www-form-urlencoded'],
  ['no bytes', () => '', 40000],
  ['null', () => 'null', 40000],
  ['a list', () => `[${note('"a"')}]`, 40000],
  ['a text', () => `"${marker}"`, 40000],
  ['the end missing', () => note('"a"').slice(0, -2), 40000],
  ['a byte order mark at its beginning', () => `\ufeff${note('"a"')}`, 40000],
  ['a trailing comma', () => note('"a"', ','), 40000],
  ['two JSON objects', () => note('"a"') + note('"a"'), 40000],
  ['single quotes', () => note('"a"').replaceAll('"', "'"), 40000],
  ['bytes that are no UTF-8', () => Buffer.from(note('"é"'), 'latin1'), 40000],
  ['UTF-16', () => Buffer.from(note('"a"'), 'utf16le'), 40000],
  ['an unknown member', () => note('"a"', `,"${marker}":{"a":[1e400,"${marker}"]}`), isRead],
  ['a member __proto__', () => note('"a"', ',"x":{"__proto__":1}'), 40000],
  ['a constructor with a prototype', () => note('"a"', ',"constructor":{"prototype":{"a":1}}'), 40000],
  ['a constructor without', () => note('"a"', ',"constructor":1'), isRead],
  ['a member of 1,000 levels', () => note('"a"', `,"x":${'['.repeat(1000)}${']'.repeat(1000)}`), isRead],
  ['20 code points and outer space', () => note(JSON.stringify(` ${'x'.repeat(20)}\u3000`)), isRead],
  ['20 code points', () => note(JSON.stringify('😀'.repeat(20))), isRead],
  ['21 code points', () => note(JSON.stringify('😀'.repeat(21))), 40001],
  ['11 decomposed letters, 22 code points as sent', () => note(JSON.stringify('e\u0301'.repeat(11))), isRead],
  ['11 letters of two code points each', () => note(JSON.stringify('x\u0301'.repeat(11))), 40001],
  ['a line feed at the end of a note', () => note(String.raw`"a\n"`), 40001],
  ['a NUL in a note', () => note(String.raw`"a\u0000b"`), 40001],
  ['a note with a right-to-left override', () => note('"a\u202eb"'), 40001],
  ['half a surrogate pair', () => note(String.raw`"\ud83d"`), 40001],
  ['a number as a note', () => note('1'), 40001],
  ['null as a note', () => note('null'), 40001],
  ['an id of 2^53', () => '{"target_user_id":9007199254740992,"note":""}', 40001],
  ['an id as decimal text', () => '{"target_user_id":"1","note":""}', isRead],
  ['an id with a leading zero', () => '{"target_user_id":"01","note":""}', 40001],
  ['64 KiB', () => long(65_536), isRead],
  ['one byte more', () => long(65_537), 41300],
])('a request body with %s is answered as the contract says', async (_what, body, code, type) => {
  const headers = [
    ['authorization', `Bearer ${token}`],
    ['content-type', type ?? 'application/json'],
  ] as const
  const sent = { method: 'POST', path: '/community/members/note', headers, body: body() }
  expect(await send(sent)).toMatchObject({ code })
})
