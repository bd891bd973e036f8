import { expect, it } from 'vitest'
import { findObstacle } from '../../../../infra/ops/events/find-obstacle.ts'

it.each([
  ['prod', 'wallet.adjusted', 'operator', undefined],
  ['prod', 'user.registered', 'business', undefined],
  ['prod', 'wallet.transferred', 'operator', 'the bus takes it only with the source business'],
  ['prod', 'user.registered', 'chain', 'the bus takes it only with the source business or operator'],
  ['local', 'wallet.transferred', 'whoever', undefined],
  ['local', 'mail.requested', 'operator', 'the bus takes it only with the source account-service'],
  ['local', 'user.deleted', 'business', 'no function takes events of this detail-type'],
])('on stage %s, %s with the source %s meets: %s', (stage, detailType, source, obstacle) => {
  expect(findObstacle(stage, { detailType, source })).toBe(obstacle)
})
