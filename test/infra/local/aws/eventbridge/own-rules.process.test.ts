import {
  DeleteRuleCommand,
  DescribeRuleCommand,
  DisableRuleCommand,
  ListTargetsByRuleCommand,
  PutEventsCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from '@aws-sdk/client-eventbridge'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs'
import { expect, test, vi } from 'vitest'
import { newDirectory } from '../../../../support/new-directory.ts'
import { allowRule, arnOf, functionModel, queueModel, ruleModel, stackModel, startStack } from '../stack.ts'

const EventBusName = 'events'
const EventPattern = JSON.stringify({ source: ['shop'], 'detail-type': [{ prefix: 'order.' }] })
const stackRule = ruleModel('orders', {
  pattern: { source: ['shop'] },
  targets: [{ id: 'queue', arn: arnOf('sqs', 'orders') }],
})
const orders = queueModel('orders', { policies: [{ Statement: [allowRule('orders', 'orders')] }] })
const stack = () => stackModel({ rules: [stackRule], queues: [orders] })
const policyFor = (queue: string, rule: string) =>
  JSON.stringify({ Version: '2012-10-17', Statement: [allowRule(queue, rule)] })

type Clients = Pick<Awaited<ReturnType<typeof startStack>>, 'sqs' | 'events'>

/** Makes a queue and a rule with the queue as its target, as a listener does on AWS. */
async function listen({ sqs, events }: Clients, Policy = policyFor('listener', 'listener')) {
  const Attributes = Policy === '' ? {} : { Policy }
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'listener', Attributes }))
  const { Attributes: { QueueArn = '' } = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  )
  const rule = await events.send(new PutRuleCommand({ Name: 'listener', EventBusName, EventPattern }))
  const put = await events.send(
    new PutTargetsCommand({ Rule: 'listener', EventBusName, Targets: [{ Id: 'queue', Arn: QueueArn }] }),
  )
  expect(put.FailedEntryCount).toBe(0)
  return { QueueUrl, QueueArn, RuleArn: rule.RuleArn }
}

const send = ({ events }: Clients, DetailType = 'order.placed') =>
  events.send(new PutEventsCommand({ Entries: [{ EventBusName, Source: 'shop', DetailType, Detail: '{}' }] }))

/** The detail-types of the events in a queue, which are taken out of it. */
async function take({ sqs }: Clients, QueueUrl: string): Promise<unknown[]> {
  const input = { QueueUrl, MaxNumberOfMessages: 10 }
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(input))
  for (const { ReceiptHandle } of Messages)
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  return Messages.map(({ Body = '' }) => (JSON.parse(Body) as Record<string, unknown>)['detail-type'])
}

test('a program can listen to events with a queue, a rule and a target of its own', async () => {
  const clients = await startStack(stack())
  const { QueueUrl, QueueArn, RuleArn } = await listen(clients)
  expect([QueueArn, RuleArn]).toEqual([arnOf('sqs', 'listener'), arnOf('events', 'rule/events/listener')])
  await send(clients)
  await send(clients, 'stock.counted')
  expect(await take(clients, QueueUrl)).toEqual(['order.placed'])
  const rule = { Name: 'listener', EventBusName }
  expect(await clients.events.send(new DescribeRuleCommand(rule))).toMatchObject({
    EventPattern,
    State: 'ENABLED',
  })
  await clients.events.send(new DisableRuleCommand(rule))
  await send(clients)
  expect(await take(clients, QueueUrl)).toEqual([])
})

test('the queue and the rule of a listener survive a restart, with the messages', async () => {
  const dataDirectory = newDirectory()
  const first = await startStack(stack(), { dataDirectory })
  const { QueueUrl } = await listen(first)
  await send(first)
  await first.close()
  const second = await startStack(stack(), { dataDirectory })
  await send(second)
  expect(await take(second, QueueUrl)).toEqual(['order.placed', 'order.placed'])
})

test('a queue gets events only once its policy allows the rule', async () => {
  const report = vi.fn()
  const clients = await startStack(stack(), { report })
  const { QueueUrl } = await listen(clients, policyFor('listener', 'another'))
  await send(clients)
  expect(await take(clients, QueueUrl)).toEqual([])
  expect(report.mock.calls.join()).toContain('could not deliver to')
  const Attributes = { Policy: policyFor('listener', 'listener') }
  await clients.sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }))
  await send(clients)
  expect(await take(clients, QueueUrl)).toEqual(['order.placed'])
})

test('a queue without any policy gets its events, and a line says that on AWS it would not', async () => {
  const report = vi.fn()
  const clients = await startStack(stack(), { report })
  const { QueueUrl } = await listen(clients, '')
  await send(clients)
  await send(clients)
  expect(await take(clients, QueueUrl)).toEqual(['order.placed', 'order.placed'])
  expect(report.mock.calls.filter(([line]) => String(line).includes('but on AWS would not'))).toHaveLength(1)
})

test('a listener can clean up, and a rule is deleted only after its targets', async () => {
  const clients = await startStack(stack())
  const { QueueUrl } = await listen(clients)
  const { events, sqs } = clients
  const rule = { Name: 'listener', EventBusName }
  await expect(events.send(new DeleteRuleCommand(rule))).rejects.toMatchObject({
    name: 'ValidationException',
  })
  await events.send(new RemoveTargetsCommand({ Rule: 'listener', EventBusName, Ids: ['queue'] }))
  const targets = await events.send(new ListTargetsByRuleCommand({ Rule: 'listener', EventBusName }))
  expect(targets.Targets).toEqual([])
  await send(clients)
  expect(await take(clients, QueueUrl)).toEqual([])
  await events.send(new DeleteRuleCommand(rule))
  await events.send(new DeleteRuleCommand(rule))
  await expect(events.send(new DescribeRuleCommand(rule))).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  })
  await sqs.send(new DeleteQueueCommand({ QueueUrl }))
  await expect(sqs.send(new ReceiveMessageCommand({ QueueUrl }))).rejects.toMatchObject({
    name: 'QueueDoesNotExist',
  })
})

test('the rules and queues of the stack cannot be changed', async () => {
  const { events, sqs } = await startStack(stack())
  const rule = { Name: 'orders', EventBusName }
  const Targets = [{ Id: 'queue', Arn: orders.arn }]
  const changes = [
    events.send(new PutRuleCommand({ ...rule, EventPattern })),
    events.send(new DeleteRuleCommand(rule)),
    events.send(new PutTargetsCommand({ Rule: 'orders', EventBusName, Targets })),
    events.send(new RemoveTargetsCommand({ Rule: 'orders', EventBusName, Ids: ['queue'] })),
  ]
  for (const change of changes) await expect(change).rejects.toMatchObject({ name: 'ManagedRuleException' })
  const QueueUrl = orders.url
  await expect(sqs.send(new DeleteQueueCommand({ QueueUrl }))).rejects.toMatchObject({
    name: 'UnsupportedOperation',
  })
})

test.each([
  ['{"source":[{"cidr":"10.0.0.0/8"}]}', 'InvalidEventPatternException'],
  ['no json', 'InvalidEventPatternException'],
  ['{}', 'InvalidEventPatternException'],
  [JSON.stringify({ source: ['s'.repeat(2_048)] }), 'InvalidEventPatternException'],
])('a rule with the pattern %j is refused', async (pattern, name) => {
  const { events } = await startStack(stack())
  const rule = { Name: 'own', EventBusName, EventPattern: pattern }
  await expect(events.send(new PutRuleCommand(rule))).rejects.toMatchObject({ name })
})

test('a rule is refused on a bus that does not exist, and so is a target that is no queue or a sixth one', async () => {
  const clients = await startStack(stack())
  const { events } = clients
  await expect(
    events.send(new PutRuleCommand({ Name: 'own', EventBusName: 'none', EventPattern })),
  ).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  const { QueueArn: Arn } = await listen(clients)
  const put = (Targets: { Id: string; Arn: string; InputPath?: string }[]) =>
    events.send(new PutTargetsCommand({ Rule: 'listener', EventBusName, Targets }))
  await expect(put([{ Id: 'none', Arn: arnOf('sqs', 'none') }])).rejects.toMatchObject({
    name: 'ValidationException',
  })
  await expect(put([{ Id: 'part', Arn, InputPath: '$.detail' }])).rejects.toMatchObject({
    name: 'ValidationException',
  })
  await expect(put(['1', '2', '3', '4', '5'].map((Id) => ({ Id, Arn })))).rejects.toMatchObject({
    name: 'LimitExceededException',
  })
})

test('a function of the stack may make no queue and no rule unless its role allows it', async () => {
  const stranger = await startStack(stackModel({ functions: [functionModel('worker')] }))
  const { events, sqs } = stranger.as('worker')
  for (const call of [
    sqs.send(new CreateQueueCommand({ QueueName: 'own' })),
    events.send(new PutRuleCommand({ Name: 'own', EventBusName, EventPattern })),
  ])
    await expect(call).rejects.toMatchObject({
      message: expect.stringContaining('is not authorized') as string,
    })
})
