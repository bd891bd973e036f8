import {
  type EventBridgeClient,
  PutEventsCommand,
  ResourceAlreadyExistsException,
  ResourceNotFoundException,
  StartReplayCommand,
} from '@aws-sdk/client-eventbridge'
import { ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { makeDirectory } from '../make-directory.ts'
import { allowRule, arnOf, queueModel, ruleModel, stackModel, startStack } from '../stack.ts'

const names = ['orders', 'copies']
const queues = names.map((name) =>
  queueModel(name, { policies: [{ Statement: [allowRule(name, name)] }], visibilityTimeoutSeconds: 600 }),
)
const archive = {
  name: 'all',
  arn: arnOf('events', 'archive/all'),
  busName: 'events',
  pattern: { 'detail-type': [{ 'anything-but': ['mail'] }] },
}
const model = stackModel({
  queues,
  rules: names.map((name) =>
    ruleModel(name, { pattern: { source: ['shop'] }, targets: [{ id: 'Target0', arn: arnOf('sqs', name) }] }),
  ),
  archives: [archive],
})

const put = (events: EventBridgeClient, at: number, n: number, detailType = 'order') =>
  events.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: 'events',
          Source: 'shop',
          DetailType: detailType,
          Detail: JSON.stringify({ n }),
          Time: new Date(at),
        },
      ],
    }),
  )

interface Received {
  id: string
  time: string
  detail: { n: number }
  'replay-name'?: string
}

/** Receives and keeps away what is in a queue now, in order. */
async function drain(sqs: SQSClient, name: string): Promise<Received[]> {
  const QueueUrl = queues.find((queue) => queue.name === name)?.url
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
  return Messages.map(({ Body = '' }) => JSON.parse(Body) as Received)
}

const replay = (ReplayName: string, from: number, to: number, FilterArns?: string[]) =>
  new StartReplayCommand({
    ReplayName,
    EventSourceArn: archive.arn,
    EventStartTime: new Date(from),
    EventEndTime: new Date(to),
    Destination: { Arn: arnOf('events', 'event-bus/events'), ...(FilterArns && { FilterArns }) },
  })

const minute = 60_000
const noon = Date.UTC(2026, 10, 22, 12)

test('a replay sends the events of a span again, minute by minute, as they were and marked with its name', async () => {
  const { events, sqs } = await startStack(model)
  await put(events, noon + minute, 2)
  await put(events, noon, 1.1)
  await put(events, noon + 2 * minute, 3)
  await put(events, noon + minute, 4, 'mail')
  const first = await drain(sqs, 'orders')
  expect(first.map(({ detail }) => detail.n)).toEqual([2, 1.1, 3, 4])
  await events.send(replay('again', noon, noon + 2 * minute))
  const expected = [first[1], first[0]].map((event) => ({ ...event, 'replay-name': 'again' }))
  expect(await drain(sqs, 'orders')).toEqual(expected)
  // What was replayed is not archived again.
  await events.send(replay('once-more', noon, noon + 2 * minute))
  expect(await drain(sqs, 'orders')).toHaveLength(2)
})

test('a replay to some rules leaves the others out, and archived events survive a restart', async () => {
  const dataDirectory = makeDirectory()
  const before = await startStack(model, { dataDirectory })
  await put(before.events, noon, 1)
  await before.close()
  const { events, sqs } = await startStack(model, { dataDirectory })
  await events.send(replay('some', noon, noon + minute, [arnOf('events', 'rule/events/copies')]))
  expect(await drain(sqs, 'orders')).toHaveLength(1)
  expect(await drain(sqs, 'copies')).toHaveLength(2)
})

test('a replay of an unknown archive, to another bus, of no time or under a used name is refused', async () => {
  const { events } = await startStack(model)
  const good = replay('x', noon, noon + minute)
  const send = (changes: Partial<typeof good.input>) =>
    events.send(new StartReplayCommand({ ...good.input, ...changes }))
  const unknown = { EventSourceArn: arnOf('events', 'archive/x') }
  await expect(send(unknown)).rejects.toThrow(ResourceNotFoundException)
  await expect(send({ Destination: { Arn: arnOf('events', 'event-bus/default') } })).rejects.toThrow('bus')
  await expect(send({ EventEndTime: new Date(noon) })).rejects.toThrow('EventEndTime')
  await events.send(good)
  await expect(send({})).rejects.toThrow(ResourceAlreadyExistsException)
})
