import * as v from 'valibot'
import { readTogether } from '../db/read.ts'
import type { Caller } from '../tokens/access-token.ts'
import type { RequiredScope } from '../tokens/scopes.ts'
import {
  type Endpoint,
  type EndpointSpec,
  frame,
  handle,
  type Handler,
  type Result,
  toEndpoint,
} from './endpoint.ts'
import { authenticate, type Session } from './middleware/authenticate.ts'
import { rehearse } from './rehearsal.ts'
import { type HttpMiddleware, type RequestInfo, requestInfo } from './request.ts'

interface SignedInSpec<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched,
> extends EndpointSpec<Input, Output> {
  /** The scope that the access_token must have, or `first-party`. */
  scope: RequiredScope
  /**
   * Starts a first read in parallel with the session check, which saves a round trip. It gets the unverified
   * user id of the token and must not write. Its result is used only after the session check has succeeded.
   */
  prefetch?: (input: v.InferOutput<Input>, claimedUserId: number) => Promise<Prefetched>
  /** Runs the endpoint. */
  run: (context: {
    input: v.InferOutput<Input>
    caller: Caller
    prefetched: Prefetched
    request: RequestInfo
  }) => Result<Output>
}

/**
 * Creates an endpoint for signed-in callers. It checks the token and its scope, parses the input, runs, and
 * answers in the envelope; every failure is answered with its own status and code. A bad token is reported
 * before any other error, so that a stranger learns nothing from bad input.
 */
export function signedInEndpoint<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched = undefined,
>(spec: SignedInSpec<Input, Output, Prefetched>): Endpoint {
  return toEndpoint(checkAndRun(spec, frame(spec)), spec, spec.scope)
}

/** What is rehearsed. For `first-party`, an unknown token is looked up once; for other scopes, twice. */
const rehearsed: SignedInSpec<v.GenericSchema, v.GenericSchema, undefined> = {
  scope: 'first-party',
  input: v.object({}),
  output: v.null(),
  run: () => Promise.resolve(null),
}

/** Handles requests of signed-in callers, with this middleware around it. */
function checkAndRun<Input extends v.GenericSchema, Output extends v.GenericSchema, Prefetched>(
  spec: SignedInSpec<Input, Output, Prefetched>,
  around: HttpMiddleware[],
): Handler {
  const handler = handle(spec, [...around, authenticate(spec.scope)], async (input, event) => {
    const session = event as typeof event & Session
    const [caller, prefetched] = await Promise.all([
      session.caller,
      // Without a prefetch function the type parameter is undefined, as is the value.
      spec.prefetch?.(input, session.claimedUserId) as Promise<Prefetched>,
    ])
    return spec.run({ input, caller, prefetched, request: requestInfo(event) })
  })
  // The session check and the prefetch read at the same moment.
  return (event, context) => readTogether(() => handler(event, context))
}

// Lambda gives a function a whole processor until its modules are evaluated, and then, at 256 MB, a seventh
// of one: there a first request with its TLS handshake takes a fifth of a second.
if (process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] !== undefined) await rehearse(checkAndRun(rehearsed, []))
