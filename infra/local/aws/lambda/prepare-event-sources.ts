import type { EventSourceModel, FunctionModel, StackModel } from '../../model.ts'
import type { Authorize } from '../iam/authorize.ts'
import type { Callers } from '../iam/callers.ts'
import { authorizeQueue } from '../sqs/access.ts'
import type { Queue } from '../sqs/queue.ts'
import type { Queues } from '../sqs/queues.ts'
import { startEventSource, type EventSource } from './event-source.ts'
import type { Invoke } from './invoke.ts'

/** What event sources need of the rest of the endpoint. */
export interface EventSourceSurroundings {
  model: StackModel
  queues: Queues
  callers: Callers
  invoke: Invoke
  report: (problem: string) => void
}

/** Checks the stack's event sources as AWS does when it creates them, and answers how to start each. */
export function prepareEventSources(surroundings: EventSourceSurroundings): (() => EventSource)[] {
  return surroundings.model.eventSources
    .filter(({ enabled }) => enabled)
    .flatMap((mapping) => prepareEventSource(mapping, surroundings))
}

function prepareEventSource(
  mapping: EventSourceModel,
  { model, queues, callers, invoke, report }: EventSourceSurroundings,
): (() => EventSource)[] {
  const queue = queues.byArn(mapping.queueArn)
  const target = model.functions.find(({ logicalId }) => logicalId === mapping.functionLogicalId)
  const authorize = callers.of(target?.arn ?? '')?.caller.authorize
  if (queue === undefined || target === undefined || authorize === undefined)
    throw new Error(`an event source names an unknown queue or function: ${mapping.queueArn}`)
  checkTimeouts(queue, target)
  const denied = findDenial(authorize, queue)
  if (denied !== undefined) {
    // AWS keeps such a mapping too, and delivers nothing until the role has the grant.
    report(`${target.name} is given nothing from ${queue.model.name}: ${denied}`)
    return []
  }
  const { name: functionName, reservedConcurrency } = target
  const options = { mapping, queue, functionName, reservedConcurrency, region: model.region, invoke, report }
  return [() => startEventSource(options)]
}

function checkTimeouts(queue: Queue, target: FunctionModel): void {
  const visibility = queue.settings.visibilityTimeoutSeconds
  if (visibility < target.timeoutSeconds)
    throw new Error(
      `Queue visibility timeout: ${visibility} seconds is less than Function timeout: ${target.timeoutSeconds} seconds ` +
        `(queue ${queue.model.name}, function ${target.name})`,
    )
}

/** Lambda polls with the function's own role. */
function findDenial(authorize: Authorize, queue: Queue): string | undefined {
  try {
    for (const action of ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'])
      authorizeQueue({ authorize }, action, queue)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
