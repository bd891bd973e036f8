import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Call, type Operation } from '../wire/operation.ts'
import { authorizeQueue } from './access.ts'
import type { Queue } from './queue.ts'
import type { Queues } from './queues.ts'

interface MoveTask {
  handle: string
  sourceArn: string
  destinationArn: string | undefined
  moved: number
  startedAt: number
}

const StartInput = v.object({
  SourceArn: v.string(),
  DestinationArn: v.optional(v.string()),
  MaxNumberOfMessagesPerSecond: v.optional(v.number()),
})
const ListInput = v.object({ SourceArn: v.string(), MaxResults: v.optional(v.number(), 1) })

/** Moving messages out of a dead-letter queue, back to where they came from or to a queue named. */
export function redriveOperations(queues: Queues): Record<string, Operation> {
  const tasks: MoveTask[] = []
  return {
    StartMessageMoveTask: operation(StartInput, (input, call) => {
      const source = requireQueue(queues, input.SourceArn)
      for (const action of ['StartMessageMoveTask', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'])
        authorizeQueue(call, action, source)
      if (!queues.list().some(({ deadLetter }) => deadLetter?.queue === source))
        throw new AwsError('InvalidParameterValue', 'Source queue must be configured as a Dead Letter Queue.')
      const destination =
        input.DestinationArn === undefined ? undefined : requireQueue(queues, input.DestinationArn)
      const moved = moveAll(queues, call, source, destination)
      const task = {
        handle: randomUUID(),
        sourceArn: input.SourceArn,
        destinationArn: input.DestinationArn,
        moved,
        startedAt: Date.now(),
      }
      tasks.unshift(task)
      tasks.length = Math.min(tasks.length, 10)
      return { TaskHandle: task.handle }
    }),

    ListMessageMoveTasks: operation(ListInput, (input, call) => {
      authorizeQueue(call, 'ListMessageMoveTasks', requireQueue(queues, input.SourceArn))
      const found = tasks.filter(({ sourceArn }) => sourceArn === input.SourceArn).slice(0, input.MaxResults)
      return {
        Results: found.map((task) => ({
          Status: 'COMPLETED',
          SourceArn: task.sourceArn,
          DestinationArn: task.destinationArn,
          ApproximateNumberOfMessagesMoved: task.moved,
          ApproximateNumberOfMessagesToMove: task.moved,
          StartedTimestamp: task.startedAt,
        })),
      }
    }),
  }
}

/** Moves what is visible, in one go; a message whose source is not known stays where it is. */
function moveAll(queues: Queues, call: Call, source: Queue, destination: Queue | undefined): number {
  let moved = 0
  const allowed = new Set<Queue>()
  for (const message of source.visibleMessages()) {
    const target = destination ?? queues.byArn(message.deadLetterSourceArn ?? '')
    if (target === undefined) continue
    if (!allowed.has(target)) authorizeQueue(call, 'SendMessage', target)
    allowed.add(target)
    source.redriveTo(target, message)
    moved += 1
  }
  return moved
}

function requireQueue(queues: Queues, arn: string): Queue {
  const queue = queues.byArn(arn)
  if (queue !== undefined) return queue
  throw new AwsError(
    'ResourceNotFoundException',
    "The resource that you specified for the SourceArn parameter doesn't exist.",
    {
      status: 404,
      queryCode: 'ResourceNotFoundException',
    },
  )
}
