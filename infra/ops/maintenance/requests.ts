import {
  ApiGatewayV2Client,
  GetApisCommand,
  GetStageCommand,
  UpdateStageCommand,
} from '@aws-sdk/client-apigatewayv2'
import { get as getOverHttp } from 'node:http'
import { get as getOverTls } from 'node:https'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { maintenanceVariable } from '../../../shared/http/middleware/refuse-in-maintenance.ts'
import { serviceName } from '../../names.ts'
import { OperationError } from '../errors.ts'
import type { Target } from '../target.ts'
import { joinStates, type Part, type PartState } from './parts.ts'

const stageName = '$default'

/** Stops requests by a variable of the API's stage, which API Gateway adds to every request. */
export const requests: Part = {
  read: (target) =>
    withApis(target, async (client, apiIds) => {
      const stages = await Promise.all(
        apiIds.map((ApiId) => client.send(new GetStageCommand({ ApiId, StageName: stageName }))),
      )
      return joinStates(
        stages.map(({ StageVariables = {} }) =>
          (StageVariables[maintenanceVariable] ?? '') === '' ? 'running' : 'stopped',
        ),
      )
    }),
  set: (target, stopped) =>
    withApis(target, async (client, apiIds) => {
      // The empty text removes a variable; omitting it would leave it as it is.
      const StageVariables = { [maintenanceVariable]: stopped ? 'on' : '' }
      for (const ApiId of apiIds)
        await client.send(new UpdateStageCommand({ ApiId, StageName: stageName, StageVariables }))
    }),
}

/** Finds the deployment's API by its name. There are two while an edge is put in front of it. */
async function withApis<Result>(
  { stage }: Target,
  work: (client: ApiGatewayV2Client, apiIds: string[]) => Promise<Result>,
): Promise<Result> {
  const client = new ApiGatewayV2Client(clientOptions())
  const apiIds: string[] = []
  let NextToken: string | undefined
  do {
    const page = await client.send(new GetApisCommand({ ...(NextToken && { NextToken }) }))
    for (const { Name, ApiId = '' } of page.Items ?? []) if (Name === serviceName(stage)) apiIds.push(ApiId)
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  if (apiIds.length === 0) throw new OperationError(`there is no API called ${serviceName(stage)}`)
  return work(client, apiIds)
}

/**
 * Asks the API itself whether it answers. Requests an address that does not exist, over a connection of its
 * own, so that one server of API Gateway does not answer every time.
 */
export const probeRequests = (baseUrl: string): Promise<PartState> =>
  new Promise((resolve, reject) => {
    const get = baseUrl.startsWith('https:') ? getOverTls : getOverHttp
    const request = get(`${baseUrl}/`, { agent: false, timeout: 10_000 }, (response) => {
      response.resume()
      // API Gateway's own 503 has no Retry-After.
      const stopped = response.statusCode === 503 && response.headers['retry-after'] !== undefined
      resolve(stopped ? 'stopped' : response.statusCode === 404 ? 'running' : 'changing')
    })
    request.on('timeout', () => request.destroy(new Error('no answer within 10 s')))
    request.on('error', (cause) => reject(new OperationError(`${baseUrl} does not answer`, { cause })))
  })
