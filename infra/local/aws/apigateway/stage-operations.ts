import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import { AwsError, jsonAnswer, parseJson, type Answer } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

/** Variables of the API's stage, which API Gateway adds to the event of every request. */
export type StageVariables = Record<string, string>

/** Name of the only stage of the API. */
const stageName = '$default'

const UpdateStageInput = v.object({
  stageVariables: v.optional(v.record(v.string(), v.pipe(v.string(), v.regex(/^[A-Za-z0-9-._~:/?#&=,]*$/)))),
})

/** The API Gateway operations GetApis, GetStage and UpdateStage. UpdateStage changes variables only. */
export function apiGatewayService(
  { apiId, apiName, region }: StackModel,
  variables: StageVariables,
): Service {
  const stagePath = `/v2/apis/${apiId}/stages/${stageName}`
  const answer = (output: object): Answer => jsonAnswer('application/json', output)
  const allow = (action: string, path: string) => () => [
    { action: `apigateway:${action}`, resource: `arn:aws:apigateway:${region}::${path.replace('/v2', '')}` },
  ]
  const describeStage = () => answer({ stageName, autoDeploy: true, stageVariables: variables })
  return ({ method, path: encodedPath, body }) => {
    const path = decodeURIComponent(encodedPath)
    if (method === 'GET' && path === '/v2/apis')
      return {
        access: allow('GET', path),
        run: () => answer({ items: [{ apiId, name: apiName, protocolType: 'HTTP' }] }),
      }
    if (path !== stagePath) return undefined
    if (method === 'GET') return { access: allow('GET', path), run: describeStage }
    if (method !== 'PATCH') return undefined
    return {
      access: allow('PATCH', path),
      run: () => {
        const input = v.safeParse(UpdateStageInput, parseJson(body))
        if (!input.success) throw new AwsError('BadRequestException', 'Invalid stage variables')
        for (const [name, value] of Object.entries(input.output.stageVariables ?? {}))
          if (value === '') Reflect.deleteProperty(variables, name)
          else variables[name] = value
        return describeStage()
      },
    }
  }
}
