import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { expect, it } from 'vitest'
import { readBody } from '../../../shared/http/request.ts'

const read = (body: string) =>
  readBody(
    { headers: { 'content-type': 'application/json' }, body } as unknown as APIGatewayProxyEventV2,
    'json',
  )

it.each([
  ['{"note":"a","note":"b"}', 'note'],
  ['{"note":"a","x":{"y":[]}, "no\\u0074e" : "a"}', 'note'],
  ['{"a":"\\\\","b":"\\"a\\":","a":1}', 'a'],
  ['{"<script>":1,"<script>":2}', 'a parameter'],
])('the body %s is refused, because a member is repeated', (body, field) => {
  expect(() => read(body)).toThrow(
    expect.objectContaining({
      failure: 'invalid_parameter',
      fields: [{ field, reason: 'is repeated' }],
    }) as Error,
  )
})

it.each(['{"a":{"b":1},"b":[{"b":1},{"b":2}],"c":"\\"a\\":"}', '{"a":{"b":1,"b":2}}', '{"a":"a","A":"a"}'])(
  'the body %s is read, because none of its own members is repeated',
  (body) => {
    expect(read(body)).toStrictEqual(JSON.parse(body))
  },
)
