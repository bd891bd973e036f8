import { expect, it } from 'vitest'
import { readEvent } from '../../../../infra/ops/events/read-event.ts'

const event = (detailType: string, source?: string, detail: unknown = { text: 'x' }) =>
  JSON.stringify({ 'detail-type': detailType, source, detail })

it.each([
  ['prod', event('wallet.adjusted'), 'operator'],
  ['prod', event('user.registered', 'business'), 'business'],
  ['prod', `\uFEFF${event('wallet.adjusted')}`, 'operator'],
  ['local', event('wallet.transferred', 'whoever'), 'whoever'],
])('readEvent reads an event that the bus of the stage %s accepts: %s', (stage, line, source) => {
  expect(readEvent(stage, line)).toMatchObject({ source, detail: '{"text":"x"}' })
})

it.each([
  ['prod', 'secret', 'not JSON'],
  ['prod', '[]', 'detail-type is missing or not valid'],
  ['prod', '{"detail":{}}', 'detail-type is missing or not valid'],
  ['prod', event('wallet.adjusted', undefined, 7), 'detail is missing or not valid'],
  ['prod', event('wallet.adjusted', undefined, []), 'detail is missing or not valid'],
  ['prod', event('wallet.adjusted', undefined, { text: 'x'.repeat(300_000) }), 'larger than the bus accepts'],
  ['prod', event('wallet.transferred'), 'the bus takes it only with the source business'],
  ['prod', event('user.registered', 'chain'), 'the bus takes it only with the source business or operator'],
  ['local', event('mail.requested'), 'the bus takes it only with the source account-service'],
  ['local', event('user.deleted'), 'no function takes events of this detail-type'],
])(
  'for a line that the bus of stage %s would refuse, readEvent gives the reason: %.60s',
  (stage, line, reason) => {
    expect(readEvent(stage, line)).toBe(reason)
  },
)

it.each(['{"constructor":1}', '{"__proto__":{"a":1}}', '{"text":"x","prototype":[]}'])(
  'readEvent leaves every member in the detail %s, so that a function refuses what it does not know',
  (detail) => {
    const line = `{"detail-type":"wallet.adjusted","detail":${detail}}`
    expect(readEvent('prod', line)).toMatchObject({ detail })
  },
)
