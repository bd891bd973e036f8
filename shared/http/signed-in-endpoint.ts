import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import * as v from 'valibot'
import { findNothing } from '../db/find-nothing.ts'
import { readTogether } from '../db/read.ts'
import { Failure, invalidParameter } from '../errors.ts'
import { runInvocation } from '../invocation.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import {
  type Caller,
  checkAccessToken,
  claimedUserId,
  newAccessToken,
  newSessionId,
  tokenFailure,
} from '../tokens/access-token.ts'
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
 */
export function signedInEndpoint<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched = undefined,
>(spec: SignedInSpec<Input, Output, Prefetched>): Endpoint {
  return toEndpoint(checkAndRun(spec, frame(spec)), spec, spec.scope)
}

/** The endpoint that warm-up requests call. */
const warmUpSpec: SignedInSpec<v.GenericSchema, v.GenericSchema, undefined> = {
  // For this scope, the token check makes only one read.
  scope: 'first-party',
  input: v.object({}),
  output: v.null(),
  run: () => Promise.resolve(null),
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
      throw error
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

/** Maximum duration of a warm-up request. */
const maxMilliseconds = 1_000

/**
 * A request with an access_token that was never issued. The token contains a random user id. So if functions
 * start at the same moment, they read different partitions.
 */
function requestOfNobody(): APIGatewayProxyEventV2 {
  const token = newAccessToken(randomInt(2 ** 47), newSessionId())
  const event: Partial<APIGatewayProxyEventV2> = {
    headers: { authorization: `Bearer ${token}` },
    rawQueryString: '',
    isBase64Encoded: false,
  }
  return event as APIGatewayProxyEventV2
}

/**
 * Number of warm-up requests besides the first one. They let V8 compile hot code and collect the garbage of
 * module loading, so the first real request waits for neither.
 */
const repetitions = 4

/**
 * Warms the function up: connects to the table, and runs the code that handles requests. Warm-up requests are
 * refused, because their access_tokens were never issued. Only the first one calls the table. Failures are
 * only logged, because a real request would report them.
 */
export async function warmUp(handler: Handler): Promise<void> {
  const first = warmUpOnce(handler)
  let failure: unknown
  for (let i = 0; i < repetitions && failure === undefined; i += 1) {
    // Lets the first warm-up request go on with its call to the table.
    await setImmediate()
    failure = await findNothing(() => warmUpOnce(handler))
  }
  failure = (await first) ?? failure
  if (failure !== undefined) log.warn('warm-up failed', { cause: errorSummary(failure) })
  log.info('initialized', { duration_ms: Math.round(process.uptime() * 1000) })
}

/** Handles one warm-up request, which should be refused. If it is not, resolves with an error. */
async function warmUpOnce(handler: Handler): Promise<unknown> {
  try {
    settings()
    await runInvocation({ getRemainingTimeInMillis: () => maxMilliseconds }, 0, () =>
      handler(requestOfNobody(), {} as Context),
    )
    return new Error('a request of nobody was answered')
  } catch (error) {
    return error instanceof Failure && error.failure === 'unauthenticated' ? undefined : error
  }
}

// Warm up during initialization, when Lambda gives the function a full vCPU. Later, a 256 MB function has
// only a seventh of one, and its first request, with a TLS handshake, would take 200 ms.
if (process.env['AWS_LAMBDA_INITIALIZATION_TYPE'] !== undefined) await warmUp(checkAndRun(warmUpSpec, []))
