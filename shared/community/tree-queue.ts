import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { itemType } from '../db/item-type.ts'
import { Integer, type Key } from '../db/table.ts'
import { writeItem } from '../db/write.ts'
import { requireEnv } from '../env.ts'
import { shardName } from './journal-shards.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

const WholeNumber = v.pipe(v.number(), v.safeInteger())

/** A message of the tree queue: it names a tree, and the shard of its journal that has a new entry. */
export const TreeMessage = v.object({ root_id: WholeNumber, shard: v.optional(WholeNumber, 0) })

const wakeUps = itemType({
  pk: 'WAKE#{journal}',
  sk: 'WAKE',
  holds: 'the deduplication id of the message about a tree that the worker has not received yet',
  found: 'by root, in a tree that grows fast also by shard of its journal',
})
const wakeUpKey = (rootId: number, shard: number): Key => wakeUps.key({ journal: shardName(rootId, shard) })
const WakeUp = v.object({ message: v.string(), asked_at: Integer })

/** A message about a tree that waits longer than this may be lost: the next sender sends another one. */
const maxWaitMilliseconds = 15_000

/**
 * Tells the tree queue that a shard of a tree's journal has a new entry. Call it after the entry is
 * written.
 *
 * However many entries are written, one message waits for a shard, and only who finds none sends it: SQS
 * takes 300 messages a second about a tree, and the messages of one large tree could hide those of other
 * trees, for which a FIFO queue looks in its first 120,000 messages only. The function may die between the
 * entry and the message. So call this again for a duplicate of the event, with `isRepeated`, which always
 * sends one.
 */
export async function notifyTreeQueue(
  rootId: number,
  shard = 0,
  { isRepeated = false }: { isRepeated?: boolean } = {},
): Promise<void> {
  const own = crypto.randomUUID()
  const waiting = await shareMessage(rootId, shard, own)
  const isWaiting = waiting.message !== own && !isRepeated
  if (isWaiting && Date.now() - waiting.askedAt < maxWaitMilliseconds) return
  if (isWaiting) await replaceMessage(rootId, shard, own)
  // Nobody else sends `own`. When an answer of the table is lost, the SDK writes `own` again, perhaps after
  // the worker has received a message, and SQS would drop `own` if somebody had sent it meanwhile. So
  // repetitions share another id with each other, for a while.
  const repetition = `${waiting.message}:${Math.floor(Date.now() / maxWaitMilliseconds)}`
  const message: v.InferInput<typeof TreeMessage> = { root_id: rootId, shard }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: requireEnv('GROW_TREE_QUEUE_URL'),
      MessageBody: JSON.stringify(message),
      MessageGroupId: String(rootId),
      MessageDeduplicationId: isWaiting || waiting.message === own ? own : repetition,
    }),
  )
}

/**
 * Forgets the message about a shard that waited. Call it when a message has been received, before the
 * journal is read: whoever writes an entry too late for this reading then sends another message.
 */
export async function forgetMessage(rootId: number, shard: number): Promise<void> {
  await writeItem({ Delete: { Key: wakeUpKey(rootId, shard) } })
}

/** The message about a shard that waits, or `own` if none does. */
async function shareMessage(
  rootId: number,
  shard: number,
  own: string,
): Promise<{ message: string; askedAt: number }> {
  const update = {
    Key: wakeUpKey(rootId, shard),
    UpdateExpression: 'SET message = if_not_exists(message, :own), asked_at = if_not_exists(asked_at, :now)',
    ExpressionAttributeValues: { ':own': own, ':now': Date.now() },
  }
  const { message, asked_at } = v.parse(WakeUp, await writeItem({ Update: update }, { returnNew: true }))
  return { message, askedAt: asked_at }
}

/**
 * Makes `own` the message that waits for a shard. If the worker has just received one, `own` is not
 * needed.
 */
async function replaceMessage(rootId: number, shard: number, own: string): Promise<void> {
  const update = {
    Key: wakeUpKey(rootId, shard),
    UpdateExpression: 'SET message = :own, asked_at = :now',
    ExpressionAttributeValues: { ':own': own, ':now': Date.now() },
  }
  await writeItem({ Update: update })
}
