import { expect, it } from 'vitest'
import { checkConcurrency } from '../../../../infra/ops/doctor/concurrency.ts'
import { fakeAws } from '../../../support/fake-aws.ts'

it.each([
  [1_000, true, ''],
  [
    10,
    false,
    ', and the stage counts on 1000: ask Service Quotas for more, or set the knob concurrentExecutions',
  ],
])('doctor says whether a limit of %i concurrent executions is enough: %s', async (limit, ok, problem) => {
  const AccountLimit = { ConcurrentExecutions: limit }
  const found = await fakeAws(
    (_request, response) => response.end(JSON.stringify({ AccountLimit })),
    () => checkConcurrency(1_000),
  )
  expect(found).toEqual({ ok, words: `the account may run ${limit} functions at once${problem}` })
})
