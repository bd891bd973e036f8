import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type * as v from 'valibot'
import {
  answer,
  answerInTime,
  type Endpoint,
  type EndpointSpec,
  frame,
  parseEvent,
  type Result,
  toEndpoint,
  withDefaults,
} from './endpoint.ts'
import { readBody } from './middleware/read-body.ts'
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
  const declared = withDefaults(spec)
  const { dialect, accepts } = declared
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(answerInTime)
    .use(frame(dialect, spec))
    .use(readBody(accepts))
    .handler(async (event) =>
      answer(await spec.run({ input: parseEvent(spec, event), request: requestInfo(event) }), dialect),
    )
  return toEndpoint(handler, { ...declared, scope: 'public' })
}
