import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { awsClient } from '../../aws/aws-client.ts'
import { clientOptions } from '../../aws/client-options.ts'
import { requireEnv } from '../../env.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/** A message of the tree queue: it names a tree whose journal has a new entry. */
export const TreeMessage = v.object({ root_id: v.pipe(v.number(), v.safeInteger()) })

/** Messages about a tree of so long a time are one: half of the queue's delay. */
export const sharedMilliseconds = 500

/**
 * Tells the tree queue that a tree's journal has a new entry. Call it after the entry is written, and again
 * for a duplicate of the event, because the function may have died in between.
 *
 * Of the messages about a tree in half a second SQS keeps one: those of one large tree would hide those of
 * other trees, for which a FIFO queue looks in its first 120,000 messages only. The queue delays them by a
 * second, so the worker receives one when its half second is over on every clock: the journal then has the
 * entries of all whose messages SQS has dropped.
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
