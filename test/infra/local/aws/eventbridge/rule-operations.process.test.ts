import {
  DescribeRuleCommand,
  DisableRuleCommand,
  EnableRuleCommand,
  ListTargetsByRuleCommand,
  PutEventsCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-eventbridge'
import { expect, test } from 'vitest'
import { allowRule, arnOf, functionModel, queueModel, ruleModel, stackModel, startStack } from '../stack.ts'

const queue = queueModel('inbox', {
  policies: [{ Version: '2012-10-17', Statement: [allowRule('inbox', 'all')] }],
})
const rule = ruleModel('all', {
  pattern: { 'detail-type': ['x'] },
  targets: [{ id: 'Target0', arn: queue.arn, input: '{}' }],
})
const clock = ruleModel('clock', {
  busName: 'default',
  arn: arnOf('events', 'rule/clock'),
  schedule: 'rate(1 hour)',
})
const reader = functionModel('reader', [
  { Effect: 'Allow', Action: 'events:DescribeRule', Resource: arnOf('events', 'rule/clock') },
])
const model = stackModel({ queues: [queue], rules: [rule, clock], functions: [reader] })

test('DescribeRule and ListTargetsByRule return the schedule, the state and the targets of a rule', async () => {
  const { events } = await startStack(model)
  expect(await events.send(new DescribeRuleCommand({ Name: 'clock' }))).toMatchObject({
    Arn: clock.arn,
    State: 'ENABLED',
    ScheduleExpression: 'rate(1 hour)',
  })
  const { Targets } = await events.send(new ListTargetsByRuleCommand({ Rule: 'all', EventBusName: 'events' }))
  expect(Targets).toEqual([{ Id: 'Target0', Arn: queue.arn, Input: '{}' }])
  await expect(events.send(new DescribeRuleCommand({ Name: 'none' }))).rejects.toThrow(
    ResourceNotFoundException,
  )
})

test('IAM permission for one EventBridge rule does not allow operations on another', async () => {
  const { as } = await startStack(model)
  const { events } = as('reader')
  await expect(events.send(new DescribeRuleCommand({ Name: 'clock' }))).resolves.toMatchObject({
    Name: 'clock',
  })
  for (const ask of [
    () => events.send(new DescribeRuleCommand({ Name: 'all', EventBusName: 'events' })),
    () => events.send(new DescribeRuleCommand({ Name: 'none' })),
    () => events.send(new ListTargetsByRuleCommand({ Rule: 'clock' })),
  ]) {
    await expect(ask()).rejects.toMatchObject({ name: 'AccessDeniedException' })
  }
})

test('a disabled EventBridge rule delivers nothing until it is enabled again', async () => {
  const { events, endpoint } = await startStack(model)
  const put = () =>
    events.send(
      new PutEventsCommand({
        Entries: [{ EventBusName: 'events', Source: 's', DetailType: 'x', Detail: '{}' }],
      }),
    )
  const name = { Name: 'all', EventBusName: 'events' }
  await events.send(new DisableRuleCommand(name))
  expect(await events.send(new DescribeRuleCommand(name))).toMatchObject({ State: 'DISABLED' })
  await put()
  expect(endpoint.queues()[0]?.visible).toBe(0)
  await events.send(new EnableRuleCommand(name))
  await put()
  expect(endpoint.queues()[0]?.visible).toBe(1)
})
