import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type * as v from 'valibot'
import type { Caller } from '../tokens/access-token.ts'
import type { RequiredScope } from '../tokens/scopes.ts'
import { readTogether } from '../db/read.ts'
import { deadlineSignal, OutOfTime, runInvocation } from '../invocation.ts'
import { answerFailures } from './middleware/answer-failures.ts'
import { authenticate, type Session } from './middleware/authenticate.ts'
import { logRequest } from './middleware/log-request.ts'
import { type BodyKind, readBody } from './middleware/read-body.ts'
import { refuseInMaintenance } from './middleware/refuse-in-maintenance.ts'
import { requireEdge } from './middleware/require-edge.ts'
import { parseInput } from '../parse-input.ts'
import { type Dialect, Reply, send, succeed } from './reply.ts'
import { readParameters, type RequestInfo, requestInfo, sentParameters } from './request.ts'

/** The `handler` of a function's bundle. */
export interface Endpoint {
  (event: APIGatewayProxyEventV2, context: Context): Promise<APIGatewayProxyStructuredResultV2>
  readonly description: EndpointDescription
}

/** The description of an endpoint as data, from which the API reference and tests are derived. */
export interface EndpointDescription {
  /** The scope that the access_token must have; `public` needs no token. */
  readonly scope: RequiredScope | 'public'
  readonly input: v.GenericSchema
  readonly output: v.GenericSchema
  readonly dialect: Dialect
  readonly accepts: BodyKind
}

/** What every endpoint declares about itself. */
interface EndpointSpec<Input extends v.GenericSchema, Output extends v.GenericSchema> {
  /** Schema of `{ path, query, body }`, as far as the endpoint reads them. */
  input: Input
  /** Schema of the answer's `data`. It types the result of `run`; only the tests check answers against it. */
  output: Output
  /** Layout of the answer: `envelope` by default, `oauth` for endpoints that standard OAuth clients call. */
  dialect?: Dialect
  /** Which kind of request body the endpoint accepts; `none` by default. */
  accepts?: BodyKind
  /** Repeated query parameters: refused by default; `report` omits them and names them in `request`. */
  repeats?: 'refuse' | 'report'
}

/** Runs the endpoint. Returns the `data` of the answer, or an answer without an envelope. */
type Result<Output extends v.GenericSchema> = Promise<v.InferOutput<Output> | Reply>

interface PublicSpec<Input extends v.GenericSchema, Output extends v.GenericSchema> extends EndpointSpec<
  Input,
  Output
> {
  /** Goes on answering while the service is switched off for maintenance. It must not write. */
  answersInMaintenance?: true
  run: (context: { input: v.InferOutput<Input>; request: RequestInfo }) => Result<Output>
}

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
  run: (context: {
    input: v.InferOutput<Input>
    caller: Caller
    prefetched: Prefetched
    request: RequestInfo
  }) => Result<Output>
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
  return describe(handler, { ...spec, scope: 'public', dialect, accepts })
}

/**
 * Creates an endpoint for signed-in callers. It checks the token and its scope, parses the input, runs, and
 * answers in the envelope; every failure is answered with its own status and code. A bad token is reported
 * before any other error, so that a stranger learns nothing from bad input.
 */
export function endpoint<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched = undefined,
>(spec: SignedInSpec<Input, Output, Prefetched>): Endpoint {
  const { dialect = 'envelope', accepts = 'none' } = spec
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(answerInTime)
    .use(logRequest())
    .use(answerFailures(dialect))
    .use(requireEdge())
    .use(refuseInMaintenance())
    .use(authenticate(spec.scope))
    .use(readBody(accepts))
    .handler(async (event) => {
      const session = event as typeof event & Session
      const input = parseEvent(spec, event)
      const [caller, prefetched] = await Promise.all([
        session.caller,
        // Without a prefetch function the type parameter is undefined, as is the value.
        spec.prefetch?.(input, session.claimedUserId) as Promise<Prefetched>,
      ])
      return answer(await spec.run({ input, caller, prefetched, request: requestInfo(event) }), dialect)
    })
  // The session check and the prefetch read at the same moment.
  return describe((event, context) => readTogether(() => handler(event, context)), {
    ...spec,
    dialect,
    accepts,
  })
}

/** Parses a request, after readBody has replaced its body text by the parsed value. */
const parseEvent = <Input extends v.GenericSchema>(
  { input, repeats = 'refuse' }: EndpointSpec<Input, v.GenericSchema>,
  event: APIGatewayProxyEventV2,
): v.InferOutput<Input> =>
  parseInput(input, {
    path: event.pathParameters ?? {},
    query:
      repeats === 'refuse'
        ? readParameters(event.rawQueryString)
        : sentParameters(event.rawQueryString).parameters,
    body: event.body,
  })

const answer = (result: unknown, dialect: Dialect): APIGatewayProxyStructuredResultV2 =>
  result instanceof Reply ? send(result) : succeed(result, dialect)

/**
 * Time before the end of the function at which its AWS calls are ended, so that it answers 503 itself: killed
 * by Lambda, it would leave the client with API Gateway's 500, which has no envelope and no Retry-After.
 */
const answerReserveMilliseconds = 500

/** Answers even if the work of the endpoint does not end with its AWS calls. */
const answerInTime = {
  timeoutEarlyInMillis: answerReserveMilliseconds / 2,
  timeoutEarlyResponse: () => {
    throw deadlineSignal()?.reason ?? new OutOfTime(false)
  },
}

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>

function describe(handler: Handler, spec: EndpointDescription): Endpoint {
  const { scope, input, output, dialect, accepts } = spec
  const run: Handler = (event, context) =>
    runInvocation(context, answerReserveMilliseconds, () => handler(event, context))
  return Object.assign(run, { description: { scope, input, output, dialect, accepts } })
}
