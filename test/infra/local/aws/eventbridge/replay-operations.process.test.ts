import {
  DescribeArchiveCommand,
  DescribeReplayCommand,
  type EventBridgeClient,
  PutEventsCommand,
  ResourceAlreadyExistsException,
  ResourceNotFoundException,
  StartReplayCommand,
} from '@aws-sdk/client-eventbridge'
import { ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { expect, test, vi } from 'vitest'
import { makeDirectory } from '../make-directory.ts'
import { allowRule, arnOf, queueModel, ruleModel, stackModel, startStack } from '../stack.ts'

const policies = ['orders', 'copies'].map((rule) => ({ Statement: [allowRule(rule, rule)] }))
const queues = ['orders', 'copies'].map((name, i) => queueModel(name, { policies: policies.slice(i, i + 1) }))
const rules = ['orders', 'copies'].map((name) =>
  ruleModel(name, {
    pattern: { source: ['shop'] },
    targets: [{ id: 'Target0', arn: arnOf('sqs', name) }],
  }),
)
const archive = {
  name: 'all',
  arn: arnOf('events', 'archive/all'),
  busName: 'events',
  pattern: { 'detail-type': [{ 'anything-but': ['mail'] }] },
}
const model = stackModel({ queues, rules, archives: [archive] })
const busArn = arnOf('events', 'event-bus/events')

const put = (events: EventBridgeClient, at: number, details: string[], detailType = 'order') =>
  events.send(
    new PutEventsCommand({
      Entries: details.map((Detail) => ({
        EventBusName: 'events',
        Source: 'shop',
        DetailType: detailType,
        Detail,
        Time: new Date(at),
      })),
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
  const received: Received[] = []
  const QueueUrl = queues.find((queue) => queue.name === name)?.url
  for (;;) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
    if (Messages.length === 0) return received
    received.push(...Messages.map(({ Body = '' }) => JSON.parse(Body) as Received))
  }
}

const span = (from: number, to: number) => ({ EventStartTime: new Date(from), EventEndTime: new Date(to) })
const start = (name: string, from: number, to: number, FilterArns?: string[]) =>
  new StartReplayCommand({
    ReplayName: name,
    EventSourceArn: archive.arn,
    ...span(from, to),
    Destination: { Arn: busArn, ...(FilterArns && { FilterArns }) },
  })

/** Starts a replay and waits for its end. */
async function replay(events: EventBridgeClient, ...parameters: Parameters<typeof start>): Promise<void> {
  await events.send(start(...parameters))
  await vi.waitFor(async () => {
    const { State } = await events.send(new DescribeReplayCommand({ ReplayName: parameters[0] }))
    expect(State).toBe('COMPLETED')
  })
}

const minute = 60_000
const noon = Date.UTC(2026, 10, 22, 12)

test('a replay sends the events of a span again, as they were and marked with its name', async () => {
  const { events, sqs } = await startStack(model)
  await put(events, noon, ['{"n":1.10}'])
  await put(events, noon + minute, ['{"n":2}'])
  await put(events, noon + 2 * minute, ['{"n":3}'])
  await put(events, noon + minute, ['{"n":4}'], 'mail')
  const first = await drain(sqs, 'orders')
  expect(first.map(({ detail }) => detail.n)).toEqual([1.1, 2, 3, 4])
  await replay(events, 'again', noon, noon + 2 * minute)
  const second = await drain(sqs, 'orders')
  expect(second).toEqual(first.slice(0, 2).map((event) => ({ ...event, 'replay-name': 'again' })))
})

test('replayed events are not archived again', async () => {
  const { events, sqs } = await startStack(model)
  await put(events, noon, ['{"n":1}'])
  await replay(events, 'one', noon, noon + minute)
  await replay(events, 'two', noon, noon + minute)
  expect((await drain(sqs, 'orders')).map((event) => event['replay-name'])).toEqual([undefined, 'one', 'two'])
})

test('a replay to some rules leaves the others out', async () => {
  const { events, sqs } = await startStack(model)
  await put(events, noon, ['{"n":1}'])
  await replay(events, 'some', noon, noon + minute, [arnOf('events', 'rule/events/copies')])
  expect(await drain(sqs, 'orders')).toHaveLength(1)
  expect(await drain(sqs, 'copies')).toHaveLength(2)
})

test('a replay goes minute by minute, in which it keeps no order', async () => {
  const { events, sqs } = await startStack(model)
  const tens = (from: number) => Array.from({ length: 10 }, (_, i) => `{"n":${from + i}}`)
  await put(events, noon + minute, tens(10))
  await put(events, noon, tens(0))
  await drain(sqs, 'orders')
  await replay(events, 'all', noon, noon + 2 * minute)
  const order = (await drain(sqs, 'orders')).map(({ detail }) => detail.n)
  expect(order).not.toEqual(order.toSorted((a, b) => a - b))
  expect(order.map((n) => (n < 10 ? 'first' : 'second'))).toEqual([
    ...Array<string>(10).fill('first'),
    ...Array<string>(10).fill('second'),
  ])
})

test('archived events survive a restart', async () => {
  const dataDirectory = makeDirectory()
  const before = await startStack(model, { dataDirectory })
  await put(before.events, noon, ['{"n":1}'])
  await before.close()
  const { events, sqs } = await startStack(model, { dataDirectory })
  await replay(events, 'later', noon, noon + minute)
  expect(await drain(sqs, 'orders')).toHaveLength(2)
})

test('a replay of an unknown archive, to another bus, of no time or under a used name is refused', async () => {
  const { events } = await startStack(model)
  expect(await events.send(new DescribeArchiveCommand({ ArchiveName: 'all' }))).toMatchObject({
    ArchiveArn: archive.arn,
    EventSourceArn: busArn,
  })
  const { input } = start('x', noon, noon + minute)
  const send = (changes: Partial<typeof input>) =>
    events.send(new StartReplayCommand({ ...input, ...changes }))
  await expect(send({ EventSourceArn: arnOf('events', 'archive/x') })).rejects.toThrow(
    ResourceNotFoundException,
  )
  await expect(send({ Destination: { Arn: arnOf('events', 'event-bus/default') } })).rejects.toThrow('bus')
  await expect(send(span(noon, noon))).rejects.toThrow('EventEndTime')
  await replay(events, 'x', noon, noon + minute)
  await expect(send({})).rejects.toThrow(ResourceAlreadyExistsException)
  const unknown = new DescribeReplayCommand({ ReplayName: 'unknown' })
  await expect(events.send(unknown)).rejects.toThrow(ResourceNotFoundException)
})
