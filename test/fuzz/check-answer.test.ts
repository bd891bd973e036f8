import { expect, it } from 'vitest'
import { FuzzCheck, type ReceivedAnswer } from './check-answer.ts'
import type { FuzzedRequest } from './draft.ts'

const failure = {
  schema: {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: { code: { type: 'integer' }, msg: {}, data: {} },
  },
  examples: Object.fromEntries([40001, 50000].map((code) => [code, { value: { code } }])),
}
const success200 = {
  schema: {
    type: 'object',
    properties: {
      ...{ code: {}, msg: {} },
      data: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } },
    },
  },
}
const responses = Object.fromEntries(
  ['200', '400', '500'].map((status) => [
    status,
    { content: { 'application/json': status === '200' ? success200 : failure } },
  ]),
)
const size = { name: 'size', in: 'query' as const, required: true, schema: { type: 'integer', maximum: 20 } }
const reference = {
  components: { schemas: {} },
  paths: {
    '/list': { get: { parameters: [size], responses } },
    '/own': { get: { security: [{ accessToken: ['read'] }], responses } },
    '/deposit/get/{id}': { get: { security: [{ accessToken: ['read'] }], responses } },
  },
}
const grant = (userId: number, changes: object = {}) => ({
  ...{ userId, scopes: ['read'], firstParty: true, expiresAt: Date.now() + 60_000 },
  ...changes,
})
const check = new FuzzCheck(reference, {
  grants: new Map([
    ['alices', grant(1)],
    ['bobs', grant(2)],
    ['narrow', grant(1, { scopes: [] })],
    ['expired', grant(1, { expiresAt: Date.now() - 1 })],
  ]),
  owners: new Map([['deposit-of-alice', 1]]),
})

const marker = 'zq0123456789ab'
const request = (query: string): FuzzedRequest => ({
  method: 'GET',
  target: `/list?${query}`,
  headers: [['user-agent', marker]],
  body: undefined,
})

const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-request-id': 'r',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=1; includeSubDomains',
  'referrer-policy': 'no-referrer',
}
const answer = (status: number, body: unknown, others: Record<string, string> = {}): ReceivedAnswer => ({
  status,
  headers: { ...headers, ...others },
  body: JSON.stringify(body),
})
const successWith = (data: unknown, headers: Record<string, string> = {}) =>
  answer(200, { code: 0, msg: 'success', data }, headers)
const success = successWith([])
const refuse = (reason: string) =>
  answer(400, { code: 40001, msg: 'm', data: { errors: [{ field: 'size', reason }] } })

it.each([
  ['a success', 'size=20', success],
  ['the refusal of what the reference forbids', 'size=21', refuse('is too large')],
  ['a refusal for a reason that no schema can say', 'size=20', refuse('must not be before beginTime')],
])('hostile requests: %s is right', (_what, query, received) => {
  expect(check.problemsOf(request(query), received)).toEqual([])
})

it.each([
  ['an answer of 500', 'size=1', answer(500, { code: 50000, msg: 'm', data: null }), 'answered 500'],
  ['an answer without envelope', 'size=1', answer(200, { data: [] }), 'no envelope'],
  ['a body that is no JSON', 'size=1', { ...success, body: '<html>' }, 'no envelope'],
  [
    'another media type',
    'size=1',
    { ...success, headers: { ...headers, 'content-type': 'text/html' } },
    'no envelope',
  ],
  [
    'a code of another status',
    'size=1',
    answer(400, { code: 40300, msg: 'm', data: null }),
    'does not go with',
  ],
  [
    'a status that is not described',
    'size=1',
    answer(404, { code: 40401, msg: 'm', data: null }),
    'does not describe',
  ],
  ['an answer that may be stored', 'size=1', successWith([], { 'cache-control': 'public' }), 'cache-control'],
  [
    'what was sent, in the body in upper case',
    'size=1',
    successWith([{ id: marker.toUpperCase() }]),
    'repeats',
  ],
  ['what was sent, in a header', 'size=1', successWith([], { 'x-a': marker }), 'repeats'],
  [
    'what was sent, as the name of a field',
    `size=${marker}`,
    answer(400, { code: 40001, msg: 'm', data: { errors: [{ field: marker, reason: 'is not valid' }] } }),
    'repeats',
  ],
  [
    'a code that is not described',
    'size=1',
    answer(400, { code: 40003, msg: 'm', data: null }),
    'does not name',
  ],
  ['a member that is not described', 'size=1', successWith([{ id: 'a', more: 1 }]), 'does not describe'],
  [
    'a header that no answer has',
    'size=1',
    successWith([], { 'x-powered-by': 'a' }),
    'no header x-powered-by',
  ],
  ['a success of what the reference forbids', 'size=21', success, 'forbids'],
  ['a success of a repeated parameter', 'size=1&size=1', success, 'forbids'],
  ['a success without a required parameter', '', success, 'forbids'],
  ['the refusal of what the reference allows', 'size=20', refuse('is too large'), 'allows'],
])('hostile requests: %s is a problem', (_what, query, received, problem) => {
  expect(check.problemsOf(request(query), received).join()).toContain(problem)
})

const get = (target: string, token: string, method = 'GET'): FuzzedRequest => ({
  method,
  target,
  headers: [['authorization', `Bearer ${token}`]],
  body: undefined,
})

it.each([
  ['a caller with the scope', get('/own', 'alices'), success],
  ['a caller whose own bill it is', get('/own', 'alices'), successWith([{ id: 'A1-7' }])],
  ['a caller whose own deposit it is', get('/deposit/get/deposit-of-alice', 'alices'), success],
])('hostile requests: a success for %s is right', (_what, sent, received) => {
  expect(check.problemsOf(sent, received)).toEqual([])
})

it.each([
  ['nobody', get('/own', 'unknown'), success, 'nobody is signed in'],
  ['an expired token', get('/own', 'expired'), success, 'nobody is signed in'],
  ['a token without the scope', get('/own', 'narrow'), success, 'has not the scope'],
  ['a caller whose deposit it is not', get('/deposit/get/deposit-of-alice', 'bobs'), success, 'names what'],
  ['a caller who sees a bill of another', get('/own', 'bobs'), successWith([{ id: 'A1-7' }]), 'shows what'],
  [
    'a caller who sees a deposit',
    get('/own', 'bobs'),
    successWith([{ id: 'deposit-of-alice' }]),
    'shows what',
  ],
])('hostile requests: a success for %s is a problem', (_what, sent, received, problem) => {
  expect(check.problemsOf(sent, received).join()).toContain(problem)
})

it('hostile requests: a HEAD request that fails is a problem', () => {
  const failed = { ...answer(500, ''), body: '' }
  expect(check.problemsOf(get('/own', 'alices', 'HEAD'), failed)).toEqual(['answered 500'])
})

const reasons = (query: string, location: string) =>
  new FuzzCheck({
    components: { schemas: {} },
    paths: { '/oauth2/authorize': { get: { responses: { 302: {} } } } },
  }).problemsOf(
    { method: 'GET', target: `/oauth2/authorize?${query}`, headers: [], body: undefined },
    { status: 302, headers: { ...headers, 'content-type': 'text/plain', location }, body: '' },
  )

it('hostile requests: a redirect repeats the query, or with an error only the state', () => {
  const back = 'http://127.0.0.1:4000/callback'
  expect(reasons(`scope=${marker}`, `http://127.0.0.1:3001/?scope=${marker}`)).toEqual([])
  expect(reasons(`state=${marker}`, `${back}?error=invalid_scope&state=${marker}`)).toEqual([])
  expect(reasons(`scope=${marker}`, `${back}?error=invalid_scope&error_description=${marker}`)).toEqual([
    `the answer repeats ${marker}`,
  ])
})
