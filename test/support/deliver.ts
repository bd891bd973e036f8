import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Context } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import type { Intake } from '../../shared/events/intake.ts'
import { commonRejections } from '../../shared/events/rejected-event.ts'
import { type TestMessage, toSqsEvent } from './sqs-event.ts'

/** The result of a delivery: done, to be delivered again, or moved to the dead-letter queue with a reason. */
export type Delivery = 'done' | 'retry' | { refused: string }

/** Matches the result of a delivery if the event was refused and the reason begins with this text. */
export const refusedAs = (reason: string) => ({
  refused: expect.stringMatching(new RegExp(`^${reason}`)) as string,
})

const reasons = new Map<string, string>()

/** Until the test ends, records what intake functions in this process would send to SQS; sends nothing. */
export function interceptQueues(): void {
  // In a benchmark (without Vitest), functions send to the real queues of the benchmark's stack.
  if (process.env['VITEST'] === undefined) return
  process.env['QUEUE_URL'] ??= 'http://queue.invalid/events'
  process.env['DEAD_LETTER_QUEUE_URL'] ??= 'http://queue.invalid/dead-letters'
  const send = async (command: unknown) => {
    if (command instanceof SendMessageCommand) {
      const { MessageBody = '', MessageAttributes } = command.input
      reasons.set(MessageBody, MessageAttributes?.['reason']?.StringValue ?? '')
    } else if (!(command instanceof ChangeMessageVisibilityCommand)) throw new Error('an unexpected call')
  }
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(send as never)
}

/** The Lambda context of a function that has this much time left. */
export function contextWith(milliseconds: number): Context {
  const end = Date.now() + milliseconds
  return { getRemainingTimeInMillis: () => end - Date.now() } as Context
}

/** Delivers an event to its function in this process, as its queue would. */
export async function deliver(
  handler: Intake,
  detail: object,
  context: Context = contextWith(30_000),
): Promise<Delivery> {
  const [delivery] = await deliverBatch(handler, [detail], context)
  return delivery as Delivery
}

const aMinuteAgo = () => ({ firstReceivedAt: Date.now() - 60_000 })

/**
 * Delivers an event for the last time, to its function in this process: it has waited a minute for what it
 * needs.
 */
export async function deliverLast(handler: Intake, detail: object): Promise<Delivery> {
  const [delivery] = await deliverBatch(handler, [detail], contextWith(30_000), {}, aMinuteAgo())
  return delivery as Delivery
}

/**
 * Delivers an archived event again, for the last time, as an EventBridge replay does. `time` is when it was
 * first sent.
 */
export async function deliverReplayed(
  handler: Intake,
  detail: object,
  time: string,
  id: string = randomUUID(),
): Promise<Delivery> {
  const envelope = { id, time, 'replay-name': 'replay' }
  const [delivery] = await deliverBatch(handler, [detail], contextWith(30_000), envelope, aMinuteAgo())
  return delivery as Delivery
}

/** Delivers a dead letter again, as a redrive does: a new message of the same event. */
export async function deliverRedriven(handler: Intake, detail: object, envelope: object): Promise<Delivery> {
  const [delivery] = await deliverBatch(handler, [detail], contextWith(30_000), envelope, { refusals: '1' })
  return delivery as Delivery
}

/** Delivers events in one SQS batch. Fails if the function refuses an event for an undeclared reason. */
export async function deliverBatch(
  handler: Intake,
  details: object[],
  context: Context = contextWith(30_000),
  envelope: object = {},
  attributes: Pick<TestMessage, 'firstReceivedAt' | 'refusals'> = {},
): Promise<Delivery[]> {
  interceptQueues()
  const messages = details.map((detail) => ({
    id: randomUUID(),
    ...attributes,
    body: JSON.stringify({ id: randomUUID(), 'detail-type': handler.detailType, ...envelope, detail }),
  }))
  const { batchItemFailures } = await handler(toSqsEvent(messages), context)
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
  return messages.map(({ id, body }) => {
    const refused = reasons.get(body)
    if (refused !== undefined) {
      const declared: readonly string[] = [...commonRejections, ...handler.rejections]
      expect(declared, 'declared rejections').toContain(refused.split(':')[0])
      return { refused }
    }
    return failed.has(id) ? 'retry' : 'done'
  })
}
