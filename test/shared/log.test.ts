import { expect, it, vi } from 'vitest'
import { errorSummary, log } from '../../shared/log.ts'

const secret = 'at_1.the-token-that-somebody-sent'

/** Errors whose messages contain request data. Parsers and AWS throw such errors. */
const quoting = () => {
  const parser = new SyntaxError(`Unexpected token in "${secret}"`)
  return [
    parser,
    new Error('outer', { cause: parser }),
    new Error(secret, { cause: new TypeError(secret, { cause: secret }) }),
    Object.assign(new Error(secret), {
      $metadata: { httpStatusCode: 400 },
      $response: { body: secret },
      secret,
    }),
    // A message with lines that look like lines of a stack trace.
    new Error(`line one\n    at ${secret}\n    at ${secret}`),
    secret,
    { secret },
  ]
}

it('the log has neither messages nor properties of an error and its causes', () => {
  for (const error of quoting()) expect(JSON.stringify(errorSummary(error))).not.toContain(secret)
})

it('the log has an error’s class, its causes’ classes, and the place where it was thrown', () => {
  const error = new Error('outer', { cause: new TypeError('inner') })
  expect(errorSummary(error)).toMatchObject({
    name: 'Error',
    at: expect.arrayContaining([expect.stringContaining('log.test.ts')]) as string[],
    cause: { name: 'TypeError' },
  })
})

it('a log line has the fields of its own invocation, and none of an earlier one', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  log.resetKeys()
  log.appendKeys({ request_id: 'first', user_id: 7 })
  log.warn('one', { limit: 'mail' })
  log.resetKeys()
  log.appendKeys({ request_id: 'second' })
  log.info('two')
  const lines = write.mock.calls.map(([text]) => JSON.parse(String(text)) as object)
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string
  expect(lines).toEqual([
    { level: 'WARN', message: 'one', timestamp, request_id: 'first', user_id: 7, limit: 'mail' },
    { level: 'INFO', message: 'two', timestamp, request_id: 'second' },
  ])
  log.resetKeys()
})
