import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, restService, type Service } from '../wire/operation.ts'
import type { EventSource } from './event-source.ts'

/** The Lambda operations GetFunctionConfiguration, ListEventSourceMappings and UpdateEventSourceMapping. */
export function eventSourceService(
  { region, accountId, functions }: StackModel,
  sources: EventSource[],
): Service {
  const configuration = (name: string) =>
    defineOperation(
      v.object({}),
      () => ({
        action: 'lambda:GetFunctionConfiguration',
        resource: `arn:aws:lambda:${region}:${accountId}:function:${name}`,
      }),
      () => ({ Environment: { Variables: functions.find((one) => one.name === name)?.environment } }),
    )
  const list = defineOperation(
    v.object({}),
    () => ({ action: 'lambda:ListEventSourceMappings', resource: '*' }),
    () => ({ EventSourceMappings: sources.map(describe) }),
  )
  const update = (uuid: string) =>
    defineOperation(
      v.object({ Enabled: v.boolean() }),
      () => ({
        action: 'lambda:UpdateEventSourceMapping',
        resource: `arn:aws:lambda:${region}:${accountId}:event-source-mapping:${uuid}`,
      }),
      ({ Enabled }) => {
        const source = sources.find((one) => one.uuid === uuid)
        if (source === undefined)
          throw new AwsError('ResourceNotFoundException', `There is no mapping ${uuid}.`, { status: 404 })
        if (Enabled) source.enable()
        else source.disable()
        return describe(source)
      },
    )
  return restService([
    ['GET', /^\/2015-03-31\/functions\/([\w-]+)\/configuration$/, configuration],
    ['GET', /^\/2015-03-31\/event-source-mappings\/?$/, () => list],
    ['PUT', /^\/2015-03-31\/event-source-mappings\/([^/]+)$/, update],
  ])
}

const describe = ({ uuid, queueArn, functionArn, state }: EventSource) => ({
  UUID: uuid,
  EventSourceArn: queueArn,
  FunctionArn: functionArn,
  State: state(),
})
