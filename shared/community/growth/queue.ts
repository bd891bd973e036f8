import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { awsClient } from '../../aws/aws-client.ts'
import { clientOptions } from '../../aws/client-options.ts'
import { itemType } from '../../db/item-type.ts'
import type { Item, Key } from '../../db/table.ts'
import { ConditionFailed, writeItem } from '../../db/write.ts'
import { requireEnv } from '../../env.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/** A message of the tree queue: it names a tree whose journal has a new entry. */
export const TreeMessage = v.object({ root_id: v.pipe(v.number(), v.safeInteger()) })

const wakeUps = itemType({
  pk: 'WAKE#{rootId}',
  sk: 'WAKE',
  holds: 'the deduplication id of the message about a tree that the worker has not received yet',
  found: 'by root',
})
const wakeUpKey = (rootId: number): Key => wakeUps.key({ rootId })

/** A message about a tree that waits longer than this may be lost: the next sender sends another one. */
const maxWaitMilliseconds = 15_000

/**
 * Tells the tree queue that a tree's journal has a new entry. Call it after the entry is written.
 *
 * However many entries are written, one message waits for a tree, and only who finds none sends it: SQS
 * takes 300 messages a second about a tree, and the messages of one large tree could hide those of other
 * trees, for which a FIFO queue looks in its first 120,000 messages only. The function may die between the
 * entry and the message. So call this again for a duplicate of the event, with `isRepeated`, which always
 * sends one.
 */
export async function notifyTreeQueue(
  rootId: number,
  { isRepeated = false }: { isRepeated?: boolean } = {},
): Promise<void> {
  const own = crypto.randomUUID()
  const waiting = await shareMessage(rootId, own)
  if (waiting !== own && !isRepeated) return
  // Nobody else sends `own`. When an answer of the table is lost, the SDK writes `own` again, perhaps after
  // the worker has received a message, and SQS would drop `own` if somebody had sent it meanwhile. So
  // repetitions share another id with each other, for a while.
  const repetition = `${waiting}:${Math.floor(Date.now() / maxWaitMilliseconds)}`
  const message: v.InferInput<typeof TreeMessage> = { root_id: rootId }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: requireEnv('GROW_TREE_QUEUE_URL'),
      MessageBody: JSON.stringify(message),
      MessageGroupId: String(rootId),
      MessageDeduplicationId: waiting === own ? own : repetition,
    }),
  )
}

/**
 * Forgets the message about a tree that waited. Call it when a message has been received, before the journal
 * is read: whoever writes an entry too late for this reading then sends another message.
 */
export async function forgetMessage(rootId: number): Promise<void> {
  await writeItem({ Delete: { Key: wakeUpKey(rootId) } })
}

/** Makes `own` the message about a tree unless one waits; resolves with the id of the message that waits. */
async function shareMessage(rootId: number, own: string): Promise<string> {
  const now = Date.now()
  const idOf = (stored: Item | undefined) => v.parse(v.optional(v.string()), stored?.['message'])
  try {
    await writeItem({
      Update: {
        Key: wakeUpKey(rootId),
        UpdateExpression: 'SET message = :own, asked_at = :now',
        ConditionExpression: 'attribute_not_exists(message) OR asked_at < :late',
        ExpressionAttributeValues: { ':own': own, ':now': now, ':late': now - maxWaitMilliseconds },
      },
      isDone: (stored) => idOf(stored) === own,
    })
    return own
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return idOf(error.failures[0]?.stored) ?? own
  }
}
