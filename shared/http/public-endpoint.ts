import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type * as v from 'valibot'
import {
  answer,
  answerInTime,
  type Endpoint,
  type EndpointSpec,
  parseEvent,
  type Result,
  toEndpoint,
} from './endpoint.ts'
import { answerFailures } from './middleware/answer-failures.ts'
import { logRequest } from './middleware/log-request.ts'
import { readBody } from './middleware/read-body.ts'
import { refuseInMaintenance } from './middleware/refuse-in-maintenance.ts'
import { requireEdge } from './middleware/require-edge.ts'
import { type RequestInfo, requestInfo } from './request.ts'

interface PublicSpec<Input extends v.GenericSchema, Output extends v.GenericSchema> extends EndpointSpec<
  Input,
  Output
> {
  /** Goes on answering while the service is switched off for maintenance. It must not write. */
  answersInMaintenance?: true
  /** Runs the endpoint. */
  run: (context: { input: v.InferOutput<Input>; request: RequestInfo }) => Result<Output>
}

/** Creates an endpoint that is open to all, or authenticates its caller otherwise than by access_token. */
export function publicEndpoint<Input extends v.GenericSchema, Output extends v.GenericSchema>(
  spec: PublicSpec<Input, Output>,
): Endpoint {
  const { dialect = 'envelope', accepts = 'none' } = spec
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(answerInTime)
    .use(logRequest())
    .use(answerFailures(dialect))
    .use(requireEdge())
    .use(spec.answersInMaintenance ? [] : refuseInMaintenance())
    .use(readBody(accepts))
    .handler(async (event) =>
      answer(await spec.run({ input: parseEvent(spec, event), request: requestInfo(event) }), dialect),
    )
  return toEndpoint(handler, { ...spec, scope: 'public', dialect, accepts })
}
