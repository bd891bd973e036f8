import { PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import {
  accountId,
  allowRule,
  arnOf,
  queueModel,
  region,
  ruleModel,
  stackModel,
  startStack,
} from '../stack.ts'

const rule = ruleModel('orders', {
  pattern: { source: ['shop'], 'detail-type': ['order.placed'] },
  targets: [{ id: 'queue', arn: arnOf('sqs', 'orders') }],
})
const queue = queueModel('orders', { policies: [{ Statement: [allowRule('orders', 'orders')] }] })
const good = {
  EventBusName: 'events',
  Source: 'shop',
  DetailType: 'order.placed',
  Detail: '{"amount":"1.10"}',
}

async function receiveAll(sqs: Awaited<ReturnType<typeof startStack>>['sqs'], name: string) {
  const QueueUrl = `http://any.host/${accountId}/${name}`
  return (await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))).Messages ?? []
}

test('the queue of a matching rule receives an event in an envelope, byte for byte', async () => {
  const { events, sqs } = await startStack(stackModel({ rules: [rule], queues: [queue] }))
  const Detail = '{"amount":0.100000000000000001,"id":9007199254740993}'
  const Time = new Date('2026-02-03T04:05:06Z')
  const answer = await events.send(
    new PutEventsCommand({
      Entries: [
        { ...good, Detail, Time, Resources: ['arn:x'] },
        { ...good, DetailType: 'other' },
        { ...good, Source: 'elsewhere' },
      ],
    }),
  )
  expect(answer.FailedEntryCount).toBe(0)
  const [message, ...others] = await receiveAll(sqs, 'orders')
  expect(others).toEqual([])
  expect(message?.Body).toContain(`"detail":${Detail}}`)
  expect(JSON.parse(message?.Body ?? '')).toMatchObject({
    version: '0',
    id: answer.Entries?.[0]?.EventId,
    'detail-type': 'order.placed',
    source: 'shop',
    account: accountId,
    time: '2026-02-03T04:05:06Z',
    region,
    resources: ['arn:x'],
  })
})

test('an invalid PutEvents entry fails alone, and the valid entries are delivered', async () => {
  const { events, sqs } = await startStack(stackModel({ rules: [rule], queues: [queue] }))
  const bad = [
    [{ ...good, Detail: 'no json' }, 'MalformedDetail'],
    [{ ...good, Detail: '[]' }, 'MalformedDetail'],
    [{ ...good, DetailType: '' }, 'InvalidArgument'],
    [{ ...good, Source: 'aws.ec2' }, 'NotAuthorizedForSourceException'],
    [{ ...good, EventBusName: 'none' }, 'ResourceNotFoundException'],
  ] as const
  const { Entries, FailedEntryCount } = await events.send(
    new PutEventsCommand({ Entries: [...bad.map(([entry]) => entry), good] }),
  )
  expect(FailedEntryCount).toBe(bad.length)
  expect(Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([...bad.map(([, code]) => code), undefined])
  expect(await receiveAll(sqs, 'orders')).toHaveLength(1)
})

test('a PutEvents request of eleven entries or over 1 MB is rejected as a whole', async () => {
  const { events, sqs } = await startStack(stackModel({ rules: [rule], queues: [queue] }))
  const half = { ...good, Detail: JSON.stringify({ text: 'x'.repeat(600_000) }) }
  for (const Entries of [Array.from({ length: 11 }, () => good), [], [half, half]])
    await expect(events.send(new PutEventsCommand({ Entries }))).rejects.toMatchObject({
      name: 'ValidationException',
    })
  expect(await receiveAll(sqs, 'orders')).toEqual([])
})

test('an event that a queue refuses by its policy is sent to the dead-letter queue of the rule’s target', async () => {
  const closed = queueModel('orders', { policies: [{ Statement: [allowRule('orders', 'another')] }] })
  const dead = queueModel('dead', { policies: [{ Statement: [allowRule('dead', 'orders')] }] })
  const targets = [{ id: 'queue', arn: closed.arn, deadLetterArn: dead.arn }]
  const problems: string[] = []
  const { events, sqs } = await startStack(
    stackModel({ rules: [{ ...rule, targets }], queues: [closed, dead] }),
    { report: (line) => problems.push(line) },
  )
  await events.send(new PutEventsCommand({ Entries: [good] }))
  expect(await receiveAll(sqs, 'orders')).toEqual([])
  expect(await receiveAll(sqs, 'dead')).toHaveLength(1)
  expect(problems).toEqual([expect.stringContaining("the queue's policy does not allow")])
})
