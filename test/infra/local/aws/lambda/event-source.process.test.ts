import { ChangeMessageVisibilityCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { expect, test, vi } from 'vitest'
import { openQuirks, type Quirks } from '../../../../../infra/local/quirks.ts'
import type { InvocationResult } from '../../../../../infra/local/runtime/function-worker.ts'
import type { EventSourceModel, QueueModel } from '../../../../../infra/local/model.ts'
import { newDirectory } from '../../../../support/new-directory.ts'
import {
  accountId,
  arnOf,
  consume,
  eventSourceModel,
  functionModel,
  queueModel,
  region,
  stackModel,
  startStack,
} from '../stack.ts'

const dataDirectory = newDirectory()
const eventually = (check: () => boolean) => vi.waitUntil(check, { timeout: 10_000, interval: 5 })
const done = (answer: unknown = null): InvocationResult => ({ payload: JSON.stringify(answer) })

interface Setup {
  dataDirectory?: string
  queue?: Partial<QueueModel>
  mapping?: Partial<EventSourceModel>
  statements?: Parameters<typeof functionModel>[1]
  quirks?: Partial<Quirks>
  run: (event: SQSEvent) => InvocationResult | Promise<InvocationResult>
}

async function startWorker({ queue, mapping, statements, quirks, run, dataDirectory }: Setup) {
  const name = queue?.fifo ? 'work.fifo' : 'work'
  const dead = queueModel(queue?.fifo ? 'dead.fifo' : 'dead')
  const work = queueModel(name, {
    visibilityTimeoutSeconds: 1,
    redrive: { deadLetterArn: dead.arn, maxReceiveCount: 2 },
    ...queue,
  })
  const model = stackModel({
    functions: [{ ...functionModel('worker', statements ?? [consume]), timeoutSeconds: 1 }],
    queues: [work, dead],
    eventSources: [eventSourceModel(work, mapping)],
  })
  const events: SQSEvent[] = []
  const problems: string[] = []
  const stack = await startStack(model, {
    ...(dataDirectory === undefined ? {} : { dataDirectory }),
    report: (line) => problems.push(line),
    quirks: { ...openQuirks(), ...quirks },
    async invoke(_functionName, payload) {
      const event = JSON.parse(payload) as SQSEvent
      events.push(event)
      return run(event)
    },
  })
  stack.endpoint.startDelivery()
  const counts = () => {
    const [first, second] = stack.endpoint.queues()
    const left = (view: typeof first) => (view?.visible ?? 0) + (view?.inFlight ?? 0)
    return { work: left(first), dead: left(second) }
  }
  return { ...stack, events, problems, counts, QueueUrl: `http://host/${accountId}/${name}` }
}

async function sendAll(sqs: SQSClient, QueueUrl: string, texts: string[], group?: string) {
  for (const MessageBody of texts) {
    const ids = group === undefined ? {} : { MessageGroupId: group, MessageDeduplicationId: MessageBody }
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...ids }))
  }
}

test('a queue’s function receives a message as an SQSEvent, and a processed message is deleted', async () => {
  const { sqs, QueueUrl, events, counts } = await startWorker({ run: () => done() })
  const MessageAttributes = { reason: { DataType: 'String', StringValue: 'x' } }
  const sent = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'd', MessageAttributes }))
  await eventually(() => events.length > 0 && counts().work === 0)
  expect(events[0]?.Records).toEqual([
    {
      messageId: sent.MessageId,
      receiptHandle: expect.any(String) as unknown,
      body: 'd',
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/) as unknown,
        SenderId: accountId,
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/) as unknown,
      },
      messageAttributes: {
        reason: { stringValue: 'x', stringListValues: [], binaryListValues: [], dataType: 'String' },
      },
      md5OfBody: sent.MD5OfMessageBody,
      md5OfMessageAttributes: sent.MD5OfMessageAttributes,
      eventSource: 'aws:sqs',
      eventSourceARN: arnOf('sqs', 'work'),
      awsRegion: region,
    },
  ])
})

test('with a speed, a failed batch comes again soon even if its function has given one message back', async () => {
  const { promise: held, resolve: go } = Promise.withResolvers<undefined>()
  const bodies = ({ Records }: SQSEvent) => Records.map(({ body }) => body).join('')
  const { sqs, QueueUrl, events } = await startWorker({
    queue: { visibilityTimeoutSeconds: 600 },
    mapping: { maximumConcurrency: 1 },
    quirks: { speed: 600 },
    async run(event) {
      if (bodies(event) === 'hold') await held
      if (bodies(event) !== 'ab') return done()
      const ReceiptHandle = event.Records[0]?.receiptHandle
      await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }))
      return { ...done({ errorMessage: 'x' }), functionError: 'Unhandled' }
    },
  })
  await sendAll(sqs, QueueUrl, ['hold'])
  await eventually(() => events.length > 0)
  await sendAll(sqs, QueueUrl, ['a', 'b'])
  go(undefined)
  await eventually(() => events.filter((event) => bodies(event).includes('b')).length > 1)
})

test('SQS delivers a whole batch again after an error, but one message after a partial failure', async () => {
  const failedB = ({ Records }: SQSEvent) => Records.filter(({ body }) => body === 'b')
  // Each digit is the receive count of one delivery. '112': one message came once, and the other twice.
  const cases: [string, Setup['run'], string][] = [
    [
      'an error of the function',
      () => ({ ...done({ errorMessage: 'x' }), functionError: 'Unhandled' }),
      '1122',
    ],
    ['an invocation that cannot be made', () => Promise.reject(new Error('no worker')), '1122'],
    [
      'a failure of an unknown message',
      () => done({ batchItemFailures: [{ itemIdentifier: 'none' }] }),
      '1122',
    ],
    ['an answer of the wrong form', () => done({ batchItemFailures: 'all' }), '1122'],
    [
      'a failure of one message',
      (event) =>
        done({ batchItemFailures: failedB(event).map(({ messageId }) => ({ itemIdentifier: messageId })) }),
      '112',
    ],
    ['no failures', () => done({ batchItemFailures: [] }), '11'],
    ['another answer', () => done({ ok: true }), '11'],
  ]
  await Promise.all(
    cases.map(async ([what, run, receives]) => {
      const { sqs, QueueUrl, events, counts } = await startWorker({ run })
      await sendAll(sqs, QueueUrl, ['a', 'b'])
      await eventually(() => events.length > 0 && counts().work === 0)
      expect([what, counts().dead]).toEqual([what, receives.length - 2])
      const deliveries = events.flatMap(({ Records }) => Records)
      const counted = deliveries.map(({ attributes }) => attributes.ApproximateReceiveCount)
      expect([what, counted.toSorted().join('')]).toEqual([what, receives])
    }),
  )
})

test('a FIFO message that is not confirmed blocks its group until it is delivered again', async () => {
  const at: Record<string, number[]> = {}
  let firstReceivedAt: number | undefined
  let lost = 1
  const { sqs, QueueUrl, counts } = await startWorker({
    queue: { fifo: true },
    mapping: { batchSize: 1 },
    quirks: { happens: (quirk) => quirk === 'lost-answers' && lost-- > 0 },
    run({ Records: [record] }) {
      const body = record?.body ?? ''
      at[body] = [...(at[body] ?? []), Date.now()]
      firstReceivedAt ??= Number(record?.attributes.ApproximateFirstReceiveTimestamp)
      return done()
    },
  })
  await sendAll(sqs, QueueUrl, ['a1', 'a2'], 'a')
  await eventually(() => counts().work === 0)
  const [, second = 0, ...more] = at['a1'] ?? []
  expect(more).toEqual([])
  expect(second - (firstReceivedAt ?? 0)).toBeGreaterThanOrEqual(1000)
  expect(at['a2']?.[0]).toBeGreaterThanOrEqual(second)
})

test('a function without permission to receive from its queue gets no messages, and the reason is reported', async () => {
  const { problems, sqs, QueueUrl, events, counts } = await startWorker({ statements: [], run: () => done() })
  await sendAll(sqs, QueueUrl, ['a'])
  await eventually(() => counts().work === 1)
  expect(events).toEqual([])
  expect(problems).toEqual([expect.stringMatching(/worker is given nothing from work: .*sqs:ReceiveMessage/)])
})

test('closing the AWS endpoint waits for the SQS batch that is in flight', async () => {
  let finish: () => void = () => undefined
  const run = () => new Promise<InvocationResult>((resolve) => (finish = () => resolve(done())))
  const { sqs, QueueUrl, events, close } = await startWorker({ run, dataDirectory })
  await sendAll(sqs, QueueUrl, ['a'])
  await eventually(() => events.length === 1)
  const closing = close()
  finish()
  await closing
  const restarted = await startWorker({ run, dataDirectory })
  expect(restarted.counts().work).toBe(0)
})
