import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { unmatchedQueueName } from '../../event-patterns.ts'
import { events } from '../../events.ts'
import { eventName } from '../../names.ts'
import { workers } from '../../workers-and-schedules.ts'
import { UsageError } from '../errors.ts'
import type { Target } from '../target.ts'

/** The AWS names of a queue and its dead-letter queue. */
export interface QueuePair {
  /** Name of the queue on the command line: `user-updated` for the queue of the event `user.updated`. */
  name: string
  /** Undefined for changes of KMS keys and for unmatched events: they have a dead-letter queue only. */
  queue: string | undefined
  deadLetters: string
}

/** Approximate numbers of messages in a queue. */
export interface MessageCounts {
  visible: number
  inFlight: number
  delayed: number
}

/** Creates an SQS client. Its timeout leaves room for long polling. */
export const openSqs = (): SQSClient =>
  new SQSClient({
    ...clientOptions(),
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 30_000 },
  })

type Queues = Pick<Target, 'hasAlarms' | 'namePrefix'>

/** Lists every queue with its dead-letter queue, and the dead-letter queues that belong to no queue. */
export const listQueues = ({ hasAlarms, namePrefix }: Queues): QueuePair[] => [
  ...events.map(({ detailType }) => {
    const name = eventName(detailType)
    return { name, queue: namePrefix + name, deadLetters: `${namePrefix}${name}-dead-letters` }
  }),
  ...workers.map(({ name }) => ({
    name,
    queue: `${namePrefix}${name}.fifo`,
    deadLetters: `${namePrefix}${name}-dead-letters.fifo`,
  })),
  { name: 'unmatched', queue: undefined, deadLetters: namePrefix + unmatchedQueueName },
  ...(hasAlarms
    ? [{ name: 'key-changes', queue: undefined, deadLetters: `${namePrefix}key-changes-dead-letters` }]
    : []),
]

/** Finds a queue pair by event type, worker or queue name. Throws a UsageError that lists the known names. */
export function findQueue(target: Queues, name: string): QueuePair {
  const all = listQueues(target)
  const found = all.find((pair) =>
    [pair.name, pair.queue ?? '', pair.deadLetters].some((known) => eventName(known) === eventName(name)),
  )
  if (found !== undefined) return found
  throw new UsageError(`there is no queue ${name}; there are ${all.map((pair) => pair.name).join(', ')}`)
}

/** Looks up the URL of a queue by its name. */
export async function queueUrl(sqs: SQSClient, name: string): Promise<string> {
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: name }))
  if (QueueUrl === undefined) throw new Error(`SQS returned no URL for the queue ${name}`)
  return QueueUrl
}

/** Counts the messages of the queue with this name. */
export const countMessages = async (sqs: SQSClient, name: string): Promise<MessageCounts> =>
  readCounts(sqs, await queueUrl(sqs, name))

/** Approximate number of all messages of the queue at this URL. */
export const countMessagesAt = async (sqs: SQSClient, url: string): Promise<number> =>
  totalOf(await readCounts(sqs, url))

async function readCounts(sqs: SQSClient, url: string): Promise<MessageCounts> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  )
  return {
    visible: Number(Attributes.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
    delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed ?? 0),
  }
}

/** Counts the waiting messages and the dead letters of every queue. */
export async function listQueueCounts(target: Queues) {
  const sqs = openSqs()
  const count = async (queue: string | undefined) =>
    queue === undefined ? 0 : totalOf(await countMessages(sqs, queue))
  return Promise.all(
    listQueues(target).map(async ({ name, queue, deadLetters }) => ({
      name,
      waiting: await count(queue),
      dead_letters: await count(deadLetters),
    })),
  )
}

/** Runs the work for every dead-letter queue that has visible messages, for all queues in parallel. */
export async function onDeadLetters<Result>(
  sqs: SQSClient,
  pairs: readonly QueuePair[],
  work: (pair: QueuePair) => Promise<Result>,
): Promise<Result[]> {
  const results = await Promise.all(
    pairs.map(async (pair) =>
      (await countMessages(sqs, pair.deadLetters)).visible > 0 ? [await work(pair)] : [],
    ),
  )
  return results.flat()
}

/** Number of all messages of a queue: visible, in flight and delayed. */
export const totalOf = ({ visible, inFlight, delayed }: MessageCounts): number => visible + inFlight + delayed
