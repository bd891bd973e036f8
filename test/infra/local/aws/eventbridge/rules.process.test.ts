import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { functionModel, ruleModel, stackModel, startStack } from '../stack.ts'

const target = functionModel('rotate')

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'Date'],
    now: new Date('2026-03-01T00:00:00Z'),
  })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a scheduled rule invokes its function with the scheduled event, or with the target’s constant input', async () => {
  const events: unknown[] = []
  const targets = [
    { id: 'tick', arn: target.arn },
    { id: 'constant', arn: target.arn, input: '{"action":"rotate"}' },
  ]
  const rule = ruleModel('hourly', { schedule: 'rate(1 hour)', targets })
  const disabled = ruleModel('off', { schedule: 'rate(1 minute)', targets, enabled: false })
  const { endpoint } = await startStack(stackModel({ functions: [target], rules: [rule, disabled] }), {
    async invoke(_name, payload) {
      events.push(JSON.parse(payload))
      return { payload }
    },
  })
  endpoint.startDelivery()
  await vi.advanceTimersByTimeAsync(3_599_999)
  expect(events).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(events).toEqual([
    {
      version: '0',
      id: expect.any(String) as unknown,
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: '123456789012',
      time: '2026-03-01T01:00:00Z',
      region: 'eu-central-1',
      resources: [rule.arn],
      detail: {},
    },
    { action: 'rotate' },
  ])
})
