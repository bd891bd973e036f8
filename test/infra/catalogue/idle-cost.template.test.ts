import { expect, it } from 'vitest'
import { priceOf, readIdleCost } from '../../../infra/catalogue/idle-cost.ts'
import { standby } from '../../support/configured-stage.ts'

it.each([
  ['dev', 12],
  ['prod', 40],
])('the stage %s costs at most $%i in a month in which nobody uses it', async (stage, dollars) => {
  expect((await readIdleCost(stage)).get('together')).toBeLessThanOrEqual(dollars)
})

it('a stage without alarms pays for no alarm and no dashboard, not even in its standby region', async () => {
  const costs = await readIdleCost('dev', { standby, edge: true })
  expect([...costs.keys()].join()).not.toMatch(/alarms|dashboard/)
})

// The cost of an idle stage must include every resource.
it('a resource whose price is unknown is refused', async () => {
  expect((await readIdleCost('prod', { standby, edge: true, auditTrail: true })).get('firewall')).toBe(9)
  expect(() => priceOf('AWS::EC2::NatGateway')).toThrow('AWS::EC2::NatGateway has no price')
})
