import * as v from 'valibot'
import { readTogether } from '../db/read.ts'
import { type Caller, checkAccessToken, claimedUserId, tokenFailure } from '../tokens/access-token.ts'
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
import { rehearse } from './rehearsal.ts'
import { type HttpMiddleware, readAuthorization, type RequestInfo, requestInfo } from './request.ts'

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
  const handler = handle(spec, around, async (event, readInput) => {
    const token = readAuthorization(event, 'bearer')
    const userId = token === undefined ? undefined : claimedUserId(token)
    if (token === undefined || userId === undefined)
      throw tokenFailure('unauthenticated', token !== undefined)
    const session = checkAccessToken(token, spec.scope)
    try {
      const input = readInput()
      const [caller, prefetched] = await Promise.all([
        session,
        // Without a prefetch function the type parameter is undefined, as is the value.
        spec.prefetch?.(input, userId) as Promise<Prefetched>,
      ])
      return await spec.run({ input, caller, prefetched, request: requestInfo(event) })
    } catch (error) {
      // A failure of the session check comes before any other.
      await session
      throw error
    }
  })
  // The session check and the prefetch read at the same moment.
  return (event, context) => readTogether(() => handler(event, context))
}

// Lambda gives a function a whole processor until its modules are evaluated, and then, at 256 MB, a seventh
// of one: there a first request with its TLS handshake takes a fifth of a second.
if (process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] !== undefined) await rehearse(checkAndRun(rehearsed, []))
