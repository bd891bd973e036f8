import type { Call } from '../wire/operation.ts'
import type { Queue } from './queue.ts'
import type { Queues } from './queues.ts'

/** Checks that the caller may do `action` with a queue. */
export function authorizeQueue(call: Pick<Call, 'authorize'>, action: string, queue: Queue): void {
  call.authorize({
    action: `sqs:${action}`,
    resource: queue.model.arn,
    resourcePolicy: { policy: queue.policy, role: 'additional' },
  })
}

/** Finds the queue of a URL and checks that the caller may do `action` with it. */
export function openQueue(queues: Queues, call: Call, action: string, queueUrl: string): Queue {
  const queue = queues.byUrl(queueUrl)
  authorizeQueue(call, action, queue)
  return queue
}
