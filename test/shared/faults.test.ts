import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ConditionFailed } from '../../shared/db/write.ts'
import { Failure } from '../../shared/errors.ts'
import { countFailure, isFault, passingCause } from '../../shared/faults.ts'
import { OutOfTime } from '../../shared/invocation.ts'
import { SignInRecordChanged } from '../../shared/sign-in/password/open-ticket.ts'
import { emittedMetrics } from '../support/emitted-metrics.ts'

const named = (name: string, properties: object = {}) =>
  Object.assign(new Error('secret words'), { name, ...properties })
const status = (httpStatusCode: number) => named('UnknownError', { $metadata: { httpStatusCode } })

/** Temporary failures, each with its cause. aws-client.process.test.ts tests real HTTP answers of AWS. */
const passing: [what: string, error: Error, cause: string][] = [
  ['any service answers 429', status(429), 'throttled'],
  ['EventBridge fails', named('InternalException'), 'outage'],
  ['any service answers 503', status(503), 'outage'],
  ['a connection breaks', named('TimeoutError', { code: 'ECONNRESET' }), 'unreachable'],
  ['a connection is closed', named('Error', { code: 'EPIPE' }), 'unreachable'],
  ['a name does not resolve', named('Error', { code: 'EAI_AGAIN' }), 'unreachable'],
  ['a write loses its races', new ConditionFailed(), 'contention'],
  ['a sign-in record changes at every attempt', new SignInRecordChanged({} as never), 'contention'],
  ['time runs out during an AWS call', new OutOfTime(true), 'out_of_time'],
  ['no key can sign', new Failure('unavailable'), 'not_ready'],
  [
    'a failure has a throttling error as its cause',
    new Failure('unavailable', { cause: named('ThrottlingException') }),
    'throttled',
  ],
]

const faults: [what: string, error: unknown][] = [
  ['a programming error', new TypeError('x is undefined')],
  ['a missing permission', named('AccessDeniedException', { $metadata: { httpStatusCode: 400 } })],
  ['a request that AWS refuses', named('ValidationException', { $metadata: { httpStatusCode: 400 } })],
  ['a disabled key', named('DisabledException')],
  ['a sender domain that SES has not verified', named('MailFromDomainNotVerifiedException')],
  ['a failure that is internal', new Failure('internal')],
  ['something thrown that is no error', 'words'],
]

it.each(passing)('when %s, the failure is temporary and no fault of the service', (_what, error, cause) => {
  expect(passingCause(error)).toBe(cause)
  expect(isFault(error)).toBe(false)
})

it.each(faults)('%s is a fault of the service', (_what, error) => {
  expect(passingCause(error)).toBeUndefined()
  expect(isFault(error)).toBe(true)
})

it('a failure that the caller caused is neither temporary nor a fault of the service', () => {
  expect(passingCause(new Failure('bad_credentials'))).toBeUndefined()
  expect(isFault(new Failure('bad_credentials'))).toBe(false)
})

it('running out of time is a fault of the service if no AWS call is pending', () => {
  expect(passingCause(new OutOfTime(false))).toBe('out_of_time')
  expect(isFault(new OutOfTime(false))).toBe(true)
})

describe('the metrics of failures', () => {
  beforeEach(() => {
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'prod-account-info')
    vi.stubEnv('AWS_LAMBDA_FUNCTION_VERSION', '7')
  })

  const metricsOf = (error: unknown) => emittedMetrics(async () => countFailure(error))
  const fault = {
    name: 'Faults',
    value: 1,
    dimensions: { function: 'prod-account-info', version: '7' },
  }
  const unavailable = (cause: string) => ({ name: 'Unavailable', value: 1, dimensions: { cause } })

  it('a fault of the service is counted for the function and its version', async () => {
    expect(await metricsOf(new TypeError('x is undefined'))).toEqual([fault])
  })

  it('a temporary failure is counted under its cause, not as a fault of the service', async () => {
    expect(await metricsOf(new ConditionFailed())).toEqual([unavailable('contention')])
  })

  it('running out of time without a pending AWS call counts as a temporary failure and as a fault', async () => {
    expect(await metricsOf(new OutOfTime(false))).toEqual([unavailable('out_of_time'), fault])
  })

  it('a failure that the caller caused is not counted', async () => {
    expect(await metricsOf(new Failure('unauthenticated'))).toEqual([])
  })
})
