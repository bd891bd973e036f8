import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv } from '../env.ts'

const sqs = new SQSClient(clientOptions())

/** A message of the tree queue: there is something in the journal of this tree. */
export const TreeMessage = v.object({ root_id: v.pipe(v.number(), v.safeInteger()) })

/**
 * Tells the tree queue that a tree's journal has grown. To be sent after the journal entry was written, and again when
 * its event comes again, so that no entry is left lying when a function dies in between. Messages of a tree are
 * handled one after another.
 */
export async function notifyTreeQueue(rootId: number): Promise<void> {
  const message: v.InferInput<typeof TreeMessage> = { root_id: rootId }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: requireEnv('GROW_TREE_QUEUE_URL'),
      MessageBody: JSON.stringify(message),
      MessageGroupId: String(rootId),
      // Each stands for an entry of its own: two that look alike are not the same.
      MessageDeduplicationId: crypto.randomUUID(),
    }),
  )
}
