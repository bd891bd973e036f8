import * as v from 'valibot'
import { expect, it } from 'vitest'
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'

const handler = publicEndpoint({
  accepts: 'json',
  input: v.object({ body: v.object({ name: v.string() }) }),
  output: v.string(),
  run: async ({ input }) => input.body.name,
})

const ask = (text: string, type = 'application/json') =>
  callEndpoint(handler, { text, headers: { 'content-type': type } })

it.each([
  '{"name":"a"}',
  ' {"name":"b","name":"a"} ',
  '{"name":"a","__proto__":{"name":"b"},"constructor":{"prototype":{"name":"c"}}}',
  `{"name":"a","more":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
])('unknown members of a JSON body are ignored, whatever they are called: %.60s', async (text) => {
  expect(await ask(text)).toMatchObject({ status: 200, data: 'a' })
})

it.each([
  '',
  ' ',
  'null',
  '[]',
  '"{}"',
  '{"name":"a"}}',
  "{'name':'a'}",
  '\ufeff{"name":"a"}',
  '{"name":"a",}',
])('a body that is no JSON object is malformed: %j', async (text) => {
  expect(await ask(text)).toMatchObject({ status: 400, code: 40000 })
})

it('a JSON body that is not UTF-8 is malformed', async () => {
  const text = Buffer.from('{"name":"\u00e9"}', 'latin1').toString('base64')
  const event = { text, isBase64Encoded: true, headers: { 'content-type': 'application/json' } }
  expect(await callEndpoint(handler, event)).toMatchObject({ status: 400, code: 40000 })
})

it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;'])(
  'a media type may have parameters and any case: %s',
  async (type) => {
    expect(await ask('{"name":"a"}', type)).toMatchObject({ status: 200 })
  },
)

it.each(['application/vnd.api+json', 'text/json', 'application/jsonx', 'application/json, text/plain', ''])(
  'a media type that the API reference does not name is unsupported: %j',
  async (type) => {
    expect(await ask('{"name":"a"}', type)).toMatchObject({ status: 415, code: 41500 })
  },
)

it.each([
  [65_536, 200],
  [65_537, 413],
])('a body of %i bytes is answered %i', async (size, status) => {
  expect(await ask('{"name":"a"}'.padEnd(size))).toMatchObject({ status })
})

it.each([
  [32_000, 200],
  [33_000, 413],
])(
  'the size of a body is that of its bytes: %i letters of two bytes each are answered %i',
  async (letters, status) => {
    expect(await ask(JSON.stringify({ name: 'é'.repeat(letters) }))).toMatchObject({ status })
  },
)
