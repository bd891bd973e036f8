import { expect, it } from 'vitest'
import { FuzzCheck, type ReceivedAnswer } from './check-answer.ts'
import type { FuzzedRequest } from './draw-request.ts'

const failure = {
  type: 'object',
  required: ['code', 'msg', 'data'],
  properties: { code: { type: 'integer' } },
}
const reference = {
  components: { schemas: {} },
  paths: {
    '/list': {
      get: {
        parameters: [
          { name: 'size', in: 'query' as const, required: true, schema: { type: 'integer', maximum: 20 } },
        ],
        responses: Object.fromEntries(
          ['200', '400', '500'].map((status) => [
            status,
            { content: { 'application/json': { schema: status === '200' ? {} : failure } } },
          ]),
        ),
      },
    },
  },
}
const check = new FuzzCheck(reference)

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
const success = answer(200, { code: 0, msg: 'success', data: [] })
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
  [
    'an answer that may be stored',
    'size=1',
    answer(200, { code: 0, msg: 'success', data: 0 }, { 'cache-control': 'public' }),
    'cache-control',
  ],
  [
    'what was sent, in the body in upper case',
    'size=1',
    answer(200, { code: 0, msg: 'success', data: marker.toUpperCase() }),
    'repeats',
  ],
  [
    'what was sent, in a header',
    'size=1',
    answer(200, { code: 0, msg: 'success', data: 0 }, { 'x-a': marker }),
    'repeats',
  ],
  ['a success of what the reference forbids', 'size=21', success, 'forbids'],
  ['a success of a repeated parameter', 'size=1&size=1', success, 'forbids'],
  ['a success without a required parameter', '', success, 'forbids'],
  ['the refusal of what the reference allows', 'size=20', refuse('is too large'), 'allows'],
])('hostile requests: %s is a problem', (_what, query, received, problem) => {
  expect(check.problemsOf(request(query), received).join()).toContain(problem)
})
