import type { Outbox } from '../ses/outbox.ts'
import type { Queues } from '../sqs/queues.ts'
import type { CloudWatch, Sampler } from './cloudwatch.ts'

/** Measures every queue, as SQS does once a minute. */
export const sampleQueues =
  ({ clock, metrics }: CloudWatch, queues: Queues): Sampler =>
  (at) => {
    for (const queue of queues.list()) {
      const dimensions = { QueueName: queue.model.name }
      const put = (name: string, value: number) =>
        metrics.put({ namespace: 'AWS/SQS', name, dimensions }, value, at - 1)
      const oldest = queue.oldestSentAt()
      const age = oldest === undefined ? 0 : Math.max(0, at - clock.read(oldest))
      put('ApproximateNumberOfMessagesVisible', queue.counts().visible)
      put('ApproximateAgeOfOldestMessage', Math.floor(age / 1_000))
    }
  }

/** Measures the reputation of the account by all mails in the outbox; SES takes a representative part. */
export const sampleReputation =
  ({ metrics }: CloudWatch, outbox: Outbox): Sampler =>
  (at) => {
    const { mails, bounces, complaints } = outbox.reputation()
    if (mails === 0) return
    const put = (name: string, count: number) =>
      metrics.put({ namespace: 'AWS/SES', name: `Reputation.${name}`, dimensions: {} }, count / mails, at - 1)
    put('BounceRate', bounces)
    put('ComplaintRate', complaints)
  }
