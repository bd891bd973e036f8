import * as v from 'valibot'
import { expect, it } from 'vitest'
import { publicEndpoint } from '../../../../shared/http/endpoint.ts'
import { Failure } from '../../../../shared/errors.ts'
import { callEndpoint } from '../../../support/call-endpoint.ts'

const outcomes: [string, () => Promise<string>][] = [
  ['a success', () => Promise.resolve('done')],
  ['a failure', () => Promise.reject(new Failure('not_found'))],
  ['an unexpected error', () => Promise.reject(new Error('a bug'))],
]

it.each(outcomes)('the answer to %s has the request’s id', async (_what, run) => {
  const handler = publicEndpoint({ input: v.object({}), output: v.string(), run })
  const { headers } = await callEndpoint(handler, { requestId: 'the-request' })
  expect(headers['x-request-id']).toBe('the-request')
})
