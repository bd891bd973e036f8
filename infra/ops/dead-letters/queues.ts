import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { events, workers } from '../../routes.ts'
import { UsageError } from '../problems.ts'
import type { Target } from '../target.ts'

/** A queue of the deployment and the queue of its dead letters, by their names in AWS. */
export interface QueuePair {
  /** What the command line calls it: the event's name with dashes, or the worker's. */
  name: string
  queue: string
  deadLetters: string
}

/** Messages in a queue, about: those that wait, those in hand, those put off. */
export interface MessageCounts {
  visible: number
  inFlight: number
  delayed: number
}

/** A client for the deployment's queues; long polling takes more time than functions give their clients. */
export const openSqs = (): SQSClient =>
  new SQSClient({
    ...clientOptions(),
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 30_000 },
  })

/** Every queue that has dead letters. */
export const listQueues = ({ namePrefix }: Pick<Target, 'namePrefix'>): QueuePair[] => [
  ...events.map(({ detailType }) => {
    const name = detailType.replaceAll('.', '-')
    return { name, queue: namePrefix + name, deadLetters: `${namePrefix}${name}-dead-letters` }
  }),
  ...workers.map(({ name }) => ({
    name,
    queue: `${namePrefix}${name}.fifo`,
    deadLetters: `${namePrefix}${name}-dead-letters.fifo`,
  })),
]

/** The queue of a name, which may be that of the event, or of either queue. Throws a UsageError that lists them. */
export function findQueue(target: Pick<Target, 'namePrefix'>, name: string): QueuePair {
  const all = listQueues(target)
  const plain = (text: string) => text.replaceAll('.', '-')
  const found = all.find((pair) =>
    [pair.name, pair.queue, pair.deadLetters].some((known) => plain(known) === plain(name)),
  )
  if (found !== undefined) return found
  throw new UsageError(`there is no queue ${name}; there are ${all.map((pair) => pair.name).join(', ')}`)
}

/** Address of a queue. */
export async function queueUrl(sqs: SQSClient, name: string): Promise<string> {
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: name }))
  if (QueueUrl === undefined) throw new Error(`SQS named no address of ${name}`)
  return QueueUrl
}

/** How many messages a queue has. */
export async function countMessages(sqs: SQSClient, name: string): Promise<MessageCounts> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: await queueUrl(sqs, name),
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

/** All messages of a queue, whatever their state. */
export const sumOf = ({ visible, inFlight, delayed }: MessageCounts): number => visible + inFlight + delayed
