import { PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { functionModel, ruleModel, stackModel, startStack } from '../stack.ts'

const target = functionModel('rotate')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: new Date('2026-03-01T00:00:00Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a scheduled rule invokes its function with the scheduled event, or with the target’s constant input', async () => {
  const events: [string, unknown][] = []
  const targets = [
    { id: 'tick', arn: target.arn },
    { id: 'constant', arn: target.arn, input: '{"action":"rotate"}' },
  ]
  const rule = ruleModel('hourly', { schedule: 'rate(1 hour)', targets })
  const disabled = ruleModel('off', { schedule: 'rate(1 minute)', targets, enabled: false })
  const { endpoint } = await startStack(stackModel({ functions: [target], rules: [rule, disabled] }), {
    async invoke(_name, payload, type) {
      events.push([type, JSON.parse(Buffer.from(payload).toString())])
      return { payload }
    },
  })
  endpoint.startDelivery()
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(events).toEqual([
    [
      'Event',
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
    ],
    ['Event', { action: 'rotate' }],
  ])
})

test('a rule invokes its function with the whole event in EventBridge’s envelope', async () => {
  vi.useRealTimers()
  const events: unknown[] = []
  const rule = ruleModel('all', { pattern: { source: ['shop'] }, targets: [{ id: 'f', arn: target.arn }] })
  const { events: bus } = await startStack(stackModel({ functions: [target], rules: [rule] }), {
    async invoke(name, payload) {
      events.push([name, JSON.parse(Buffer.from(payload).toString())])
      return { payload }
    },
  })
  await bus.send(
    new PutEventsCommand({
      Entries: [{ EventBusName: 'events', Source: 'shop', DetailType: 'x', Detail: '{"a":1}' }],
    }),
  )
  expect(events).toEqual([['rotate', expect.objectContaining({ source: 'shop', detail: { a: 1 } })]])
})
