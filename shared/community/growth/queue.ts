import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { awsClient } from '../../aws/aws-client.ts'
import { clientOptions } from '../../aws/client-options.ts'
import { requireEnv } from '../../env.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/** A message of the tree queue: it names a tree whose journal has a new entry. */
export const TreeMessage = v.object({ root_id: v.pipe(v.number(), v.safeInteger()) })

/** Messages about one tree within this time count as one message. It is half of the queue's delay. */
export const sharedMilliseconds = 500

/**
 * Tells the tree queue that a tree's journal has a new entry. Call it after the entry is written, and again
 * for a duplicate of the event, because the function may have died in between.
 *
 * SQS keeps one of the messages about a tree in half a second. Without this, messages of one large tree could
 * fill the first 120,000 messages, in which a FIFO queue looks for other trees. The queue delays a message by
 * a second, so the worker receives it when its half second is over on every clock: by then the journal has
 * the entries of all messages that SQS has dropped.
 */
export async function notifyTreeQueue(rootId: number): Promise<void> {
  const message: v.InferInput<typeof TreeMessage> = { root_id: rootId }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: requireEnv('GROW_TREE_QUEUE_URL'),
      MessageBody: JSON.stringify(message),
      MessageGroupId: String(rootId),
      MessageDeduplicationId: `${rootId}:${Math.floor(Date.now() / sharedMilliseconds)}`,
    }),
  )
}
