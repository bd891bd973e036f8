import {
  type EventSourceMappingConfiguration,
  LambdaClient,
  paginateListEventSourceMappings,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { events as eventRows } from '../../events.ts'
import { eventName } from '../../names.ts'
import { workers } from '../../workers-and-schedules.ts'
import { OperationError } from '../errors.ts'
import type { Target } from '../target.ts'
import { joinStates, type Part, type PartState } from './parts.ts'

const states: Record<string, PartState> = { Enabled: 'running', Disabled: 'stopped' }

/**
 * Stops the delivery from every queue to its function, by the event source mappings of Lambda. Messages wait
 * in their queues, and a message that is not delivered comes no nearer to the dead letters.
 */
export const events: Part = {
  read: (target) =>
    withMappings(target, async (_client, mappings) =>
      joinStates(mappings.map(({ State = '' }) => states[State] ?? 'changing')),
    ),
  set: (target, stopped) =>
    withMappings(target, async (client, mappings) => {
      const wanted = stopped ? 'Disabled' : 'Enabled'
      for (const { UUID, State } of mappings)
        if (State !== wanted)
          await client.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: !stopped }))
    }),
}

async function withMappings<Result>(
  { namePrefix }: Target,
  work: (client: LambdaClient, mappings: EventSourceMappingConfiguration[]) => Promise<Result>,
): Promise<Result> {
  const client = new LambdaClient(clientOptions())
  const names = new Set([
    ...eventRows.map(({ detailType }) => `${namePrefix}intake-${eventName(detailType)}`),
    ...workers.map(({ name }) => `${namePrefix}worker-${name}`),
  ])
  const mappings: EventSourceMappingConfiguration[] = []
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, {}))
    mappings.push(...EventSourceMappings.filter((mapping) => names.has(functionNameOf(mapping))))
  const found = mappings.map(functionNameOf)
  const missing = [...names].filter((name) => !found.includes(name))
  if (missing.length > 0) throw new OperationError(`no queue delivers to ${missing.join(', ')}: deploy again`)
  return work(client, mappings)
}

/** The function's name in `arn:aws:lambda:REGION:ACCOUNT:function:NAME`, which an alias may follow. */
const functionNameOf = ({ FunctionArn = '' }: EventSourceMappingConfiguration): string =>
  FunctionArn.split(':')[6] ?? ''
