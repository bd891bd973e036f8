import type * as v from 'valibot'
import { type Endpoint, type EndpointSpec, frame, handle, type Result, toEndpoint } from './endpoint.ts'
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
  const handler = handle(spec, frame(spec), (event, readInput) =>
    spec.run({ input: readInput(), request: requestInfo(event) }),
  )
  return toEndpoint(handler, spec, 'public')
}
