import {
  ApiGatewayV2Client,
  GetApisCommand,
  GetStageCommand,
  UpdateStageCommand,
} from '@aws-sdk/client-apigatewayv2'
import {
  DescribeRuleCommand,
  DisableRuleCommand,
  EnableRuleCommand,
  EventBridgeClient,
} from '@aws-sdk/client-eventbridge'
import {
  LambdaClient,
  paginateListEventSourceMappings,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { maintenanceVariable } from '../../../shared/env.ts'
import { events } from '../../events.ts'
import { eventName, serviceName } from '../../names.ts'
import { schedules, workers } from '../../workers-and-schedules.ts'
import { OperationError } from '../errors.ts'
import type { Target } from '../target.ts'

/** The parts of the service that maintenance can stop. `events` includes the queues of the workers. */
export const partNames = ['requests', 'events', 'schedules'] as const
export type PartName = (typeof partNames)[number]

/** `changing`: AWS is stopping or starting the part, or an earlier stop or start was not completed. */
export type PartState = 'running' | 'stopped' | 'changing'

/** A resource whose setting stops or starts a part of the service. AWS applies the setting with a delay. */
interface Switch {
  state: PartState
  set: (stopped: boolean) => Promise<unknown>
}

/** For each part of the service, finds the switches that can stop it, and reads their states. */
export const parts: Record<PartName, (target: Target) => Promise<Switch[]>> = {
  requests: findApis,
  events: findMappings,
  schedules: findRules,
}

/**
 * Finds the APIs of a stage, each with its switch. The switch sets a stage variable: while it is set,
 * functions refuse every request. There are two APIs while a deployment adds the edge (CloudFront).
 */
async function findApis({ stage }: Target): Promise<Switch[]> {
  const client = new ApiGatewayV2Client(clientOptions())
  const ids: string[] = []
  let NextToken: string | undefined
  do {
    const page = await client.send(new GetApisCommand({ ...(NextToken && { NextToken }) }))
    for (const { Name, ApiId = '' } of page.Items ?? []) if (Name === serviceName(stage)) ids.push(ApiId)
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  if (ids.length === 0) throw new OperationError(`there is no API called ${serviceName(stage)}`)
  return Promise.all(
    ids.map(async (ApiId) => {
      const StageName = '$default'
      const { StageVariables = {} } = await client.send(new GetStageCommand({ ApiId, StageName }))
      return {
        state: (StageVariables[maintenanceVariable] ?? '') === '' ? 'running' : 'stopped',
        set: (stopped) =>
          client.send(
            new UpdateStageCommand({
              ApiId,
              StageName,
              // An empty value removes the stage variable. A missing value would leave the variable as it is.
              StageVariables: { [maintenanceVariable]: stopped ? 'on' : '' },
            }),
          ),
      }
    }),
  )
}

/**
 * Finds the event source mappings, which deliver messages from queues to functions. While a mapping is
 * stopped, messages wait in its queue, and SQS moves none of them to a dead-letter queue.
 */
async function findMappings({ namePrefix }: Target): Promise<Switch[]> {
  const client = new LambdaClient(clientOptions())
  const missing = new Set([
    ...events.map(({ detailType }) => `${namePrefix}intake-${eventName(detailType)}`),
    ...workers.map(({ name }) => `${namePrefix}worker-${name}`),
  ])
  const names = new Set(missing)
  const switches: Switch[] = []
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, {}))
    for (const { UUID, State = '', FunctionArn = '' } of EventSourceMappings) {
      // The ARN is arn:aws:lambda:REGION:ACCOUNT:function:NAME.
      const name = FunctionArn.split(':')[6] ?? ''
      if (!names.has(name)) continue
      missing.delete(name)
      switches.push({
        state: State === 'Enabled' ? 'running' : State === 'Disabled' ? 'stopped' : 'changing',
        set: async (stopped) => {
          if (State !== (stopped ? 'Disabled' : 'Enabled'))
            await client.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: !stopped }))
        },
      })
    }
  if (missing.size === 0) return switches
  throw new OperationError(`no queue delivers to ${[...missing].join(', ')}: deploy again`)
}

/**
 * Finds the EventBridge rules of the schedules. While a rule is disabled, operators can still invoke its
 * function.
 */
function findRules({ namePrefix }: Target): Promise<Switch[]> {
  const client = new EventBridgeClient(clientOptions())
  return Promise.all(
    schedules.map(async ({ name }) => {
      const rule = { Name: namePrefix + name }
      const { State: state } = await client.send(new DescribeRuleCommand(rule))
      return {
        state: state === 'ENABLED' ? 'running' : state === 'DISABLED' ? 'stopped' : 'changing',
        set: (stopped) => client.send(stopped ? new DisableRuleCommand(rule) : new EnableRuleCommand(rule)),
      }
    }),
  )
}
