import { type Quirks, openQuirks } from '../../quirks.ts'
import type { QueueModel, StackModel } from '../../model.ts'
import type { AccessRequest } from '../iam/authorize.ts'
import { openDefinitions } from '../storage/definitions.ts'
import type { Store } from '../storage/store.ts'
import { AwsError } from '../wire/http-messages.ts'
import { openMessageStore } from './message-store.ts'
import { Queue } from './queue.ts'

/** All SQS queues of the account. */
export type Queues = ReturnType<typeof openQueues>

const maxDeadLetters = 50

/**
 * Opens all queues: those of the stack, and those that programs have made here. Throws if a queue's
 * dead-letter queue is unknown or has another type (FIFO or not).
 */
export function openQueues(store: Store, model: StackModel, quirks: Quirks = openQuirks()) {
  const messages = openMessageStore(store)
  const own = openDefinitions<QueueModel>(store, 'queues')
  const queues = new Map<string, Queue>()
  const byArn = (arn: string) => [...queues.values()].find((queue) => queue.model.arn === arn)
  const open = (queue: QueueModel) => queues.set(queue.name, new Queue(queue, messages, quirks))
  /** Finds out where a queue's dead letters go. */
  const deadLetterOf = ({ name, fifo, redrive }: QueueModel): Queue['deadLetter'] => {
    if (redrive === undefined) return undefined
    const target = byArn(redrive.deadLetterArn)
    if (target === undefined) throw new Error(`queue ${name} names an unknown dead-letter queue`)
    if (target.model.fifo !== fifo)
      throw new Error(`queue ${name} and its dead-letter queue must both be FIFO, or neither`)
    return { queue: target, maxReceiveCount: redrive.maxReceiveCount }
  }
  for (const queue of [...model.queues, ...own.list()]) open(queue)
  for (const queue of queues.values()) queue.deadLetter = deadLetterOf(queue.model)
  const isOwn = ({ model: { name } }: Queue) => !model.queues.some((queue) => queue.name === name)
  const ends = new Set(model.rules.flatMap(({ targets }) => targets.map(({ arn }) => arn)))
  for (const { queueArn } of model.eventSources) ends.delete(queueArn)
  return {
    list: () => [...queues.values()],
    /** Lists queues for a person to look at: dead-letter queues, and queues that no function reads. */
    listDeadLetterQueues(): Set<Queue> {
      const all = [...queues.values()]
      return new Set([
        ...all.flatMap(({ deadLetter }) => deadLetter?.queue ?? []),
        ...all.filter((queue) => ends.has(queue.model.arn)),
      ])
    },
    byArn,
    /** Finds a queue by its name, or by the last part of its URL. Throws QueueDoesNotExist. */
    find(reference: string): Queue {
      const queue = queues.get(reference.split('/').at(-1) ?? '')
      if (queue !== undefined) return queue
      const queryCode = 'AWS.SimpleQueueService.NonExistentQueue'
      throw new AwsError('QueueDoesNotExist', 'The specified queue does not exist.', { queryCode })
    },
    has: (name: string) => queues.has(name),
    /** Whether a program has made the queue here. */
    isOwn,
    /** Makes a queue, or changes one that a program has made. */
    put(queue: QueueModel): void {
      const deadLetter = deadLetterOf(queue)
      const known = queues.get(queue.name)
      if (known === undefined) open(queue)
      else known.configure(queue)
      const opened = queues.get(queue.name)
      if (opened !== undefined) opened.deadLetter = deadLetter
      own.save(queue.name, queue)
    },
    /** Deletes a queue that a program has made, with its messages. */
    remove(queue: Queue): void {
      queues.delete(queue.model.name)
      own.remove(queue.model.name)
      queue.clear()
    },
  }
}

/** The permissions that IAM or the queue's own policy must grant for an action on a queue. */
export function queueAccess(action: string, { model, policy }: Queue): AccessRequest {
  return { action: `sqs:${action}`, resource: model.arn, resourcePolicy: { policy, role: 'additional' } }
}

/** An SQS queue as the console shows it. */
export type QueueView = ReturnType<typeof viewQueues>[number]

/** Describes every queue with its message counts. */
export function viewQueues(queues: Queues) {
  const deadLetterQueues = queues.listDeadLetterQueues()
  return queues.list().map((queue) => ({
    name: queue.model.name,
    url: queue.model.url,
    arn: queue.model.arn,
    ...queue.counts(),
    isDeadLetterQueue: deadLetterQueues.has(queue),
  }))
}

/** Lists the newest dead letters of all queues; `reason` is null if SQS gave up after too many receives. */
export function viewDeadLetters(queues: Queues) {
  const letters = [...queues.listDeadLetterQueues()].flatMap((queue) =>
    queue.newest(maxDeadLetters).map(({ sentAt, attributes, body }) => {
      const reason = attributes['reason']?.StringValue ?? null
      return { queue: queue.model.name, sent_at: sentAt, reason, body }
    }),
  )
  return letters.sort((one, other) => other.sent_at - one.sent_at).slice(0, maxDeadLetters)
}
