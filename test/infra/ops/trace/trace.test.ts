import { describe, expect, it } from 'vitest'
import type { LogLine } from '../../../../infra/ops/trace/log-lines.ts'
import { formatTrace, isTraceId, trace } from '../../../../infra/ops/trace/trace.ts'

const line = (at: number, name: string, fields: Record<string, unknown>): LogLine => ({
  at,
  function: name,
  fields,
})
const log = [
  line(4, 'intake-mail-requested', { message: 'event', event_id: 'event-one', outcome: 'applied' }),
  line(1, 'user-login', { message: 'event published', request_id: 'request-1', event_id: 'event-one' }),
  line(2, 'user-login', { message: 'request', request_id: 'request-1', status: 200 }),
  line(3, 'user-login', { message: 'request', request_id: 'request-2', status: 200 }),
]
const find = async (texts: string[]) =>
  log.filter((one) => texts.some((text) => JSON.stringify(one).includes(text)))

describe('trace', () => {
  it('finds the lines of a request and of the event that it put on the bus, each once, in order of time', async () => {
    expect((await trace(find, 'request-1')).map(({ at }) => at)).toEqual([1, 2, 4])
  })

  it('asks for the events of the events that a function put, and no further than two steps', async () => {
    const asked: string[][] = []
    await trace(async (texts) => {
      asked.push(texts)
      return [line(1, 'f', { message: 'event published', event_id: `${texts[0] ?? ''}-next` })]
    }, 'request-1')
    expect(asked).toEqual([['request-1'], ['request-1-next'], ['request-1-next-next']])
  })
})

it.each(['x" or 1=1 | fields @message', 'short', 'a b c d e f g', 'x'.repeat(129)])(
  'refuses an id that is none, because it becomes part of a query: %s',
  (id) => expect(isTraceId(id)).toBe(false),
)

it.each(['JKJaXmPLvHcESHA=', '5f0f6d44-5c1e-4b63-a8f5-3c7f0b2d9c11'])('takes the id %s', (id) => {
  expect(isTraceId(id)).toBe(true)
})

it('shows instant, function, level, message and fields of a line, and a line feed as an escape', () => {
  const fields = { level: 'INFO', message: 'request', timestamp: 'x', status: 200, route: 'a\nb' }
  expect(formatTrace([line(0, 'user-login', fields)])).toBe(
    String.raw`1970-01-01T00:00:00.000Z user-login INFO request status=200 route="a\nb"`,
  )
})
