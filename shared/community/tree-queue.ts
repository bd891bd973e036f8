import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { itemType } from '../db/item-type.ts'
import { writeItem } from '../db/write.ts'
import { requireEnv } from '../env.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/** A message of the tree queue: it names a tree whose journal has a new entry. */
export const TreeMessage = v.object({ root_id: v.pipe(v.number(), v.safeInteger()) })

const wakeUps = itemType({
  pk: 'WAKE#{rootId}',
  sk: 'WAKE',
  holds: 'the deduplication id of the message about a tree that the worker has not received yet',
  found: 'by root',
})
const WakeUp = v.object({ message: v.string() })

/**
 * Tells the tree queue that a tree's journal has a new entry. Call it after the entry is written, and again
 * for a duplicate of the event, because the function may have died before the first call.
 *
 * However many entries are written, one message waits for a tree: until the worker receives it, every sender
 * uses its deduplication id, so SQS drops the others. Otherwise the messages of one large tree could hide
 * those of other trees, for which a FIFO queue looks in its first 120,000 messages only.
 */
export async function notifyTreeQueue(rootId: number): Promise<void> {
  const message: v.InferInput<typeof TreeMessage> = { root_id: rootId }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: requireEnv('GROW_TREE_QUEUE_URL'),
      MessageBody: JSON.stringify(message),
      MessageGroupId: String(rootId),
      MessageDeduplicationId: await shareMessage(rootId),
    }),
  )
}

/**
 * Forgets the message about a tree that waited. Call it when a message has been received, before the journal
 * is read: whoever writes an entry too late for this reading then sends another message.
 */
export async function forgetMessage(rootId: number): Promise<void> {
  await writeItem({ Delete: { Key: wakeUps.key({ rootId }) } })
}

/** The deduplication id of the message about a tree that waits, or a new one if none does. */
async function shareMessage(rootId: number): Promise<string> {
  const update = {
    Key: wakeUps.key({ rootId }),
    UpdateExpression: 'SET message = if_not_exists(message, :new)',
    ExpressionAttributeValues: { ':new': crypto.randomUUID() },
  }
  return v.parse(WakeUp, await writeItem({ Update: update }, { returnNew: true })).message
}
