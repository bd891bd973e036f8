import { randomUUID } from 'node:crypto'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { awsClient } from '../../aws/aws-client.ts'
import { clientOptions } from '../../aws/client-options.ts'
import { requireEnv } from '../../env.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/** Message of the tree queue: it names a referral tree whose journal (see JournalEntry) has a new entry. */
export const TreeMessage = v.object({ root_id: v.pipe(v.number(), v.safeInteger()) })

/**
 * Notifies the tree queue's worker of a new entry in a referral tree's journal. Call this after the entry is
 * written. Call this again for a duplicate of the event, because the function may have died before the first
 * call. Each message has its own deduplication id, because SQS would otherwise drop a second entry's message.
 */
export async function notifyTreeQueue(rootId: number): Promise<void> {
  const message: v.InferInput<typeof TreeMessage> = { root_id: rootId }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: requireEnv('GROW_TREE_QUEUE_URL'),
      MessageBody: JSON.stringify(message),
      MessageGroupId: String(rootId),
      MessageDeduplicationId: randomUUID(),
    }),
  )
}
