import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import { defineOperation, restService, type Service } from '../wire/operation.ts'

/** Variables of the API's stage, which API Gateway adds to the event of every request. */
export type StageVariables = Record<string, string>

const stageName = '$default'

const UpdateStageInput = v.object({
  stageVariables: v.optional(
    v.record(v.string(), v.pipe(v.string(), v.regex(/^[A-Za-z0-9-._~:/?#&=,]*$/))),
    {},
  ),
})

/** The API Gateway operations GetApis, GetStage and UpdateStage. UpdateStage changes variables only. */
export function apiGatewayService(
  { apiId, apiName, region }: StackModel,
  variables: StageVariables,
): Service {
  const allow = (action: string, path: string) => () => ({
    action: `apigateway:${action}`,
    resource: `arn:aws:apigateway:${region}::${path}`,
  })
  const stagePath = `/apis/${apiId}/stages/${stageName}`
  const stage = new RegExp(`^/v2${RegExp.escape(stagePath)}$`)
  const describeStage = () => ({ stageName, autoDeploy: true, stageVariables: variables })
  const list = defineOperation(v.object({}), allow('GET', '/apis'), () => ({
    items: [{ apiId, name: apiName, protocolType: 'HTTP' }],
  }))
  const describe = defineOperation(v.object({}), allow('GET', stagePath), describeStage)
  const update = defineOperation(UpdateStageInput, allow('PATCH', stagePath), ({ stageVariables }) => {
    for (const [name, value] of Object.entries(stageVariables))
      if (value === '') Reflect.deleteProperty(variables, name)
      else variables[name] = value
    return describeStage()
  })
  return restService([
    ['GET', /^\/v2\/apis$/, () => list],
    ['GET', stage, () => describe],
    ['PATCH', stage, () => update],
  ])
}
