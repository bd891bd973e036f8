import { expect, it, vi } from 'vitest'
import { checkConcurrency } from '../../../../infra/ops/doctor/concurrency.ts'
import { serveHttp } from '../../../support/serve-http.ts'

it.each([
  [1_000, true, ''],
  [
    10,
    false,
    ', and the stage counts on 1000: ask Service Quotas for more, or set the knob concurrentExecutions',
  ],
])('doctor says that the account may run %i functions at once: enough is %s', async (limit, ok, problem) => {
  const AccountLimit = { ConcurrentExecutions: limit }
  const found = await serveHttp(
    (_request, response) => response.end(JSON.stringify({ AccountLimit })),
    (url) => {
      vi.stubEnv('AWS_ENDPOINT_URL', url)
      return checkConcurrency(1_000)
    },
  )
  expect(found).toEqual({ ok, words: `the account may run ${limit} functions at once${problem}` })
})
