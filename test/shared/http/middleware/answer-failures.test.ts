import type { Context } from 'aws-lambda'
import * as v from 'valibot'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Failure } from '../../../../shared/errors.ts'
import { publicEndpoint } from '../../../../shared/http/public-endpoint.ts'
import { emittedMetrics } from '../../../support/emitted-metrics.ts'
import { getEvent } from '../../../support/call-endpoint.ts'

const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' })

beforeEach(() => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'prod-account-info')
  vi.stubEnv('AWS_LAMBDA_FUNCTION_VERSION', '7')
})

async function faultsOf(error: Error) {
  const handler = publicEndpoint({
    input: v.object({}),
    output: v.never(),
    run: async () => {
      throw error
    },
  })
  const metrics = await emittedMetrics(() => handler(getEvent('/test'), {} as Context))
  return metrics.filter(({ name }) => name === 'Faults')
}

describe('the fault metric of an endpoint, which rolls a deployment back', () => {
  it('an unexpected error of an endpoint counts as a fault of the function’s version', async () => {
    expect(await faultsOf(new TypeError('x is undefined'))).toEqual([
      { name: 'Faults', value: 1, dimensions: { function: 'prod-account-info', version: '7' } },
    ])
  })

  it.each([
    ['a failure of the caller', new Failure('unauthenticated')],
    ['a dependency that is down', new Failure('unavailable')],
    ['a dependency that throttles', throttled],
  ])('%s does not count as a fault of an endpoint', async (_what, error) => {
    expect(await faultsOf(error)).toEqual([])
  })
})
