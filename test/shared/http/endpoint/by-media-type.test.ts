import * as v from 'valibot'
import { expect, it } from 'vitest'
import { byMediaType, publicEndpoint } from '../../../../shared/http/endpoint.ts'
import { callEndpoint } from '../../../support/call-endpoint.ts'

const answering = (data: string, accepts: 'form' | 'json') =>
  publicEndpoint({ input: v.object({}), output: v.string(), accepts, run: () => Promise.resolve(data) })
const handler = byMediaType({ form: answering('form', 'form'), json: answering('json', 'json') })

it.each([
  ['application/x-www-form-urlencoded', 'a=1', 'form'],
  ['Application/X-WWW-Form-URLencoded ; charset=utf-8', 'a=1', 'form'],
  ['application/json', '{}', 'json'],
])('a body of the type %s goes to its own endpoint', async (type, text, data) => {
  const answer = await callEndpoint(handler, { headers: { 'content-type': type }, text })
  expect(answer).toMatchObject({ status: 200, data })
})
