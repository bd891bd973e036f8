import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import type * as v from 'valibot'
import { readTogether } from '../db/read.ts'
import { Failure, invalidParameter } from '../errors.ts'
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
import {
  type HttpMiddleware,
  isForm,
  readAuthorization,
  readBody,
  type RequestInfo,
  requestInfo,
} from './request.ts'
import type { Rehearsed } from './warm-up.ts'

interface SignedInSpec<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched,
> extends EndpointSpec<Input, Output> {
  scope: RequiredScope
  /** Whether the endpoint also takes the access_token as `access_token` in a form (RFC 6750 §2.2). */
  takesTokenInForm?: true
  /**
   * Starts a read in parallel with the session check, which saves a round trip. Must not write, because
   * `claimedUserId` comes from the unverified token. The result is used only after the session check.
   */
  prefetch?: (input: v.InferOutput<Input>, claimedUserId: number) => Promise<Prefetched>
  run: (context: {
    input: v.InferOutput<Input>
    caller: Caller
    prefetched: Prefetched
    request: RequestInfo
  }) => Result<Output>
}

/**
 * Creates an endpoint for signed-in callers. The endpoint checks the token and its scope, parses the input,
 * calls `run`, and answers in the envelope. A bad token is reported before bad input, so that a stranger
 * never learns what is wrong with the input.
 *
 * The file of the function calls `warmUp` with it.
 */
export function signedInEndpoint<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched = undefined,
>(spec: SignedInSpec<Input, Output, Prefetched>): Endpoint & Rehearsed {
  const endpoint = toEndpoint(checkAndRun(spec, frame(spec)), spec, spec.scope)
  // For the scope `first-party`, the token check makes only one read of a token that was never issued.
  return Object.assign(endpoint, { rehearse: checkAndRun({ ...spec, scope: 'first-party' }, []) })
}

/** Creates the handler of an endpoint for signed-in callers, inside the given middleware. */
function checkAndRun<Input extends v.GenericSchema, Output extends v.GenericSchema, Prefetched>(
  spec: SignedInSpec<Input, Output, Prefetched>,
  around: HttpMiddleware[],
): Handler {
  const handler = handle(spec, around, async (event, readInput) => {
    const inForm = spec.takesTokenInForm && readTokenInForm(event)
    const token = inForm ?? readAuthorization(event, 'bearer')
    const userId = token === undefined ? undefined : claimedUserId(token)
    if (token === undefined || userId === undefined)
      throw tokenFailure('unauthenticated', token !== undefined)
    const session = checkAccessToken(token, spec.scope)
    try {
      const input = readInput()
      const [caller, prefetched] = await Promise.all([
        session,
        // The cast is safe: without `prefetch`, the type `Prefetched` is `undefined`.
        spec.prefetch?.(input, userId) as Promise<Prefetched>,
      ])
      return await spec.run({ input, caller, prefetched, request: requestInfo(event) })
    } catch (error) {
      // A failure of the session check takes precedence over any other failure.
      await session
      // Every 403 has a challenge (RFC 6750 §3): the code that throws `forbidden` knows no tokens.
      throw error instanceof Failure && error.failure === 'forbidden' ? tokenFailure('forbidden') : error
    }
  })
  // The reads of the session check and those of the prefetch begin at the same moment, so they share a call.
  return (event, context) => readTogether(() => handler(event, context))
}

/**
 * The access_token in a form, if the body is one (RFC 6750 §2.2). Throws `invalid_parameter` for a request
 * that also has an Authorization header (§2).
 */
function readTokenInForm(event: APIGatewayProxyEventV2): string | undefined {
  if (event.requestContext.http.method !== 'POST' || !isForm(event)) return undefined
  const { access_token: token } = readBody(event, 'form') as Record<string, string>
  if (token !== undefined && event.headers['authorization'] !== undefined)
    throw invalidParameter('access_token', 'must not be sent beside an Authorization header')
  return token
}
