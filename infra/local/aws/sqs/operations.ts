import type { Operation } from '../wire/operation.ts'
import { administrationOperations } from './administration.ts'
import type { Queue } from './queue.ts'
import type { Queues } from './queues.ts'
import { receivingOperations } from './receiving.ts'
import { sendingOperations } from './sending.ts'

/** Every operation of SQS that the endpoint answers, by the name in X-Amz-Target (`AmazonSQS.NAME`). */
export function sqsOperations(
  queues: Queues,
  options: { senderId: string; urlOf: (queue: Queue) => string },
): Record<string, Operation> {
  return {
    ...administrationOperations(queues, options.urlOf),
    ...sendingOperations(queues, options.senderId),
    ...receivingOperations(queues),
  }
}
