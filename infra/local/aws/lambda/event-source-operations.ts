import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import { AwsError, jsonAnswer, parseJson } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'
import type { EventSource } from './event-source.ts'

const path = '/2015-03-31/event-source-mappings'
const UpdateInput = v.object({ Enabled: v.boolean() })

/** Lambda's ListEventSourceMappings and UpdateEventSourceMapping. The latter can only change `Enabled`. */
export function eventSourceService({ region, accountId }: StackModel, sources: EventSource[]): Service {
  return (request) => {
    if (request.method === 'GET' && request.path.replace(/\/$/, '') === path)
      return {
        access: () => [{ action: 'lambda:ListEventSourceMappings', resource: '*' }],
        run: () => jsonAnswer('application/json', { EventSourceMappings: sources.map(describe) }),
      }
    const uuid = request.path.startsWith(`${path}/`) ? request.path.slice(path.length + 1) : undefined
    if (request.method !== 'PUT' || uuid === undefined) return undefined
    const resource = `arn:aws:lambda:${region}:${accountId}:event-source-mapping:${uuid}`
    return {
      access: () => [{ action: 'lambda:UpdateEventSourceMapping', resource }],
      run: () => {
        const source = sources.find((one) => one.uuid === uuid)
        if (source === undefined)
          throw new AwsError('ResourceNotFoundException', `There is no mapping ${uuid}.`, { status: 404 })
        const input = v.safeParse(UpdateInput, parseJson(request.body))
        if (!input.success)
          throw new AwsError('InvalidParameterValueException', 'Only Enabled can be changed.')
        if (input.output.Enabled) source.enable()
        else source.disable()
        return { ...jsonAnswer('application/json', describe(source)), status: 202 }
      },
    }
  }
}

const describe = ({ uuid, queueArn, functionArn, state }: EventSource) => ({
  UUID: uuid,
  EventSourceArn: queueArn,
  FunctionArn: functionArn,
  State: state(),
})
