import type { StackModel } from '../../model.ts'
import type { Store } from '../store.ts'
import { AwsError } from '../wire/aws-error.ts'
import { openMessageStore } from './message-store.ts'
import { Queue } from './queue.ts'

/** All queues of the account. */
export interface Queues {
  list(): Queue[]
  /** By the path of a queue URL, whatever its host: `/ACCOUNT/NAME`. */
  byUrl(queueUrl: string): Queue
  byName(name: string): Queue
  byArn(arn: string): Queue | undefined
  close(): void
}

const expiryMilliseconds = 5 * 60 * 1000

/** Opens the stack's queues with the messages that the store holds for them. */
export function openQueues(store: Store, model: StackModel): Queues {
  const messages = openMessageStore(store)
  const nextSequence = createSequence()
  const queues = new Map(model.queues.map((queue) => [queue.name, new Queue(queue, messages, nextSequence)]))
  const byArn = (arn: string) => [...queues.values()].find((queue) => queue.model.arn === arn)
  for (const queue of queues.values()) {
    const { redrive } = queue.model
    if (redrive === undefined) continue
    const target = byArn(redrive.deadLetterArn)
    if (target === undefined) throw new Error(`queue ${queue.model.name} names an unknown dead-letter queue`)
    if (target.model.fifo !== queue.model.fifo)
      throw new Error(`queue ${queue.model.name} and its dead-letter queue must both be FIFO, or neither`)
    queue.deadLetter = { queue: target, maxReceiveCount: redrive.maxReceiveCount }
  }
  const expiry = setInterval(() => {
    for (const queue of queues.values()) queue.expire()
  }, expiryMilliseconds).unref()

  const byName = (name: string) => {
    const queue = queues.get(name)
    if (queue !== undefined) return queue
    throw new AwsError('QueueDoesNotExist', 'The specified queue does not exist.', {
      queryCode: 'AWS.SimpleQueueService.NonExistentQueue',
    })
  }
  return {
    list: () => [...queues.values()],
    byUrl(queueUrl) {
      const path = URL.canParse(queueUrl) ? new URL(queueUrl).pathname : queueUrl
      return byName(path.split('/').at(-1) ?? '')
    },
    byName,
    byArn,
    close() {
      clearInterval(expiry)
      for (const queue of queues.values()) queue.close()
    },
  }
}

/** Sequence numbers of FIFO messages: ever growing, over restarts too, since the clock leads them. */
function createSequence(): () => string {
  let last = 0n
  return () => {
    const now = BigInt(Date.now()) * 1_000_000n
    last = now > last ? now : last + 1n
    return last.toString().padStart(20, '0')
  }
}
