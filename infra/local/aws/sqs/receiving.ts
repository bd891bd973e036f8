import * as v from 'valibot'
import { operation, type Operation } from '../wire/operation.ts'
import { openQueue } from './access.ts'
import { BatchEntryId, checkBatch, runBatch } from './batch.ts'
import { md5, md5OfAttributes, systemAttributes, type Message } from './message.ts'
import type { Queues } from './queues.ts'

const VisibilityTimeout = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(43_200))
const Names = v.optional(v.array(v.string()), [])
const QueueUrl = v.string()
const ReceiptHandle = v.string()

const ReceiveInput = v.object({
  QueueUrl,
  MaxNumberOfMessages: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)), 1),
  VisibilityTimeout: v.optional(VisibilityTimeout),
  WaitTimeSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20))),
  AttributeNames: Names,
  MessageSystemAttributeNames: Names,
  MessageAttributeNames: Names,
})
const DeleteBatch = v.object({ QueueUrl, Entries: v.array(v.object({ Id: BatchEntryId, ReceiptHandle })) })
const VisibilityBatch = v.object({
  QueueUrl,
  Entries: v.array(
    v.object({ Id: BatchEntryId, ReceiptHandle, VisibilityTimeout: v.optional(VisibilityTimeout, 0) }),
  ),
})

/** Receiving, deleting, and hiding messages longer or shorter. */
export function receivingOperations(queues: Queues): Record<string, Operation> {
  return {
    ReceiveMessage: operation(ReceiveInput, async (input, call) => {
      const queue = openQueue(queues, call, 'ReceiveMessage', input.QueueUrl)
      const messages = await queue.receive(input.MaxNumberOfMessages, {
        visibilitySeconds: input.VisibilityTimeout,
        waitMilliseconds: 1000 * (input.WaitTimeSeconds ?? queue.settings.receiveWaitSeconds),
        signal: call.signal,
      })
      const system = [...input.AttributeNames, ...input.MessageSystemAttributeNames]
      return messages.length === 0
        ? {}
        : {
            Messages: messages.map((message) =>
              describeMessage(message, system, input.MessageAttributeNames),
            ),
          }
    }),

    DeleteMessage: operation(v.object({ QueueUrl, ReceiptHandle }), (input, call) => {
      openQueue(queues, call, 'DeleteMessage', input.QueueUrl).delete(input.ReceiptHandle)
    }),

    DeleteMessageBatch: operation(DeleteBatch, (input, call) => {
      const queue = openQueue(queues, call, 'DeleteMessage', input.QueueUrl)
      checkBatch(input.Entries)
      return runBatch(input.Entries, (entry) => {
        queue.delete(entry.ReceiptHandle)
        return {}
      })
    }),

    ChangeMessageVisibility: operation(
      v.object({ QueueUrl, ReceiptHandle, VisibilityTimeout }),
      (input, call) => {
        const queue = openQueue(queues, call, 'ChangeMessageVisibility', input.QueueUrl)
        queue.changeVisibility(input.ReceiptHandle, input.VisibilityTimeout)
      },
    ),

    ChangeMessageVisibilityBatch: operation(VisibilityBatch, (input, call) => {
      const queue = openQueue(queues, call, 'ChangeMessageVisibility', input.QueueUrl)
      checkBatch(input.Entries)
      return runBatch(input.Entries, (entry) => {
        queue.changeVisibility(entry.ReceiptHandle, entry.VisibilityTimeout)
        return {}
      })
    }),
  }
}

function describeMessage(
  message: Message,
  systemNames: string[],
  attributeNames: string[],
): Record<string, unknown> {
  const system = selectSystemAttributes(message, systemNames)
  const attributes = Object.fromEntries(
    Object.entries(message.attributes).filter(([name]) =>
      attributeNames.some((wanted) => nameMatches(wanted, name)),
    ),
  )
  return {
    MessageId: message.id,
    ReceiptHandle: message.receipt,
    MD5OfBody: md5(message.body),
    Body: message.body,
    ...(Object.keys(system).length > 0 ? { Attributes: system } : {}),
    ...(Object.keys(attributes).length > 0
      ? { MessageAttributes: attributes, MD5OfMessageAttributes: md5OfAttributes(attributes) }
      : {}),
  }
}

function selectSystemAttributes(message: Message, names: string[]): Record<string, string> {
  const all = systemAttributes(message)
  if (names.includes('All')) return all
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

/** `All`, `.*`, a whole name, or a prefix as `prefix.*`. */
function nameMatches(wanted: string, name: string): boolean {
  if (wanted === 'All' || wanted === '.*' || wanted === name) return true
  return wanted.endsWith('.*') && name.startsWith(wanted.slice(0, -2))
}
