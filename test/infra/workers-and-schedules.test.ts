import { expect, it } from 'vitest'
import { schedules } from '../../infra/workers-and-schedules.ts'

it('at most three runs of verify-ledger overlap', () => {
  const { rate = '', permissions } = schedules.find(({ name }) => name === 'verify-ledger') ?? {}
  const seconds = 60 * Number(/^rate\((\d+) minutes?\)$/.exec(rate)?.[1])
  expect(Math.ceil((permissions?.timeout ?? NaN) / seconds)).toBeLessThanOrEqual(3)
})
