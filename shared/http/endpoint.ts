import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type * as v from 'valibot'
import type { Caller } from '../tokens/access-token.ts'
import type { RequiredScope } from '../tokens/scopes.ts'
import { answerFailures } from './middleware/answer-failures.ts'
import { authenticate, type Session } from './middleware/authenticate.ts'
import { logRequest } from './middleware/log-request.ts'
import { type BodyKind, readBody } from './middleware/read-body.ts'
import { parseInput } from '../parse-input.ts'
import { type Dialect, Reply, send, succeed } from './reply.ts'
import { readParameters, type RequestInfo, requestInfo, sentParameters } from './request.ts'

/** The `handler` of a function's bundle. */
export interface Endpoint {
  (event: APIGatewayProxyEventV2, context: Context): Promise<APIGatewayProxyStructuredResultV2>
  readonly description: EndpointDescription
}

/** The part of an endpoint that is data: the API reference and the tests are derived from it. */
export interface EndpointDescription {
  /** What a token must hold to be answered; `public` needs none. */
  readonly scope: RequiredScope | 'public'
  readonly input: v.GenericSchema
  readonly output: v.GenericSchema
  readonly dialect: Dialect
  readonly accepts: BodyKind
}

/** What every endpoint says of itself. */
interface EndpointSpec<Input extends v.GenericSchema, Output extends v.GenericSchema> {
  /** Schema of `{ path, query, body }`, as far as the endpoint reads them. */
  input: Input
  /**
   * Schema of `data`. It types what `run` returns; the tests check answers against it, not the service at run
   * time.
   */
  output: Output
  /** Layout of the answer; `envelope` by default, `oauth` where unmodified OAuth clients read it. */
  dialect?: Dialect
  /** What the request body may be; `none` by default. */
  accepts?: BodyKind
  /**
   * Repeated query parameters are refused by default; `report` leaves them out of the input and names them in
   * `request`.
   */
  repeats?: 'refuse' | 'report'
}

/** The `data` of the answer, or an answer without an envelope. */
type Result<Output extends v.GenericSchema> = Promise<v.InferOutput<Output> | Reply>

interface PublicSpec<Input extends v.GenericSchema, Output extends v.GenericSchema> extends EndpointSpec<
  Input,
  Output
> {
  run: (context: { input: v.InferOutput<Input>; request: RequestInfo }) => Result<Output>
}

interface SignedInSpec<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched,
> extends EndpointSpec<Input, Output> {
  /** The scope that the token must hold, or `first-party`. */
  scope: RequiredScope
  /**
   * A first read that runs beside the session check, which saves a round trip. It gets the user id that the
   * token claims and must not write. Its result is used only after the session check has succeeded.
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
 * An endpoint that is open to everyone, or that authenticates its caller by other means than an access_token.
 */
export function publicEndpoint<Input extends v.GenericSchema, Output extends v.GenericSchema>(
  spec: PublicSpec<Input, Output>,
): Endpoint {
  const { dialect = 'envelope', accepts = 'none' } = spec
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(logRequest())
    .use(answerFailures(dialect))
    .use(readBody(accepts))
    .handler(async (event) =>
      answer(await spec.run({ input: parseEvent(spec, event), request: requestInfo(event) }), dialect),
    )
  return describe(handler, { ...spec, scope: 'public', dialect, accepts })
}

/**
 * An endpoint for signed-in callers. The one place that reads a raw event: checks the token and its scope,
 * parses the input, runs, and answers in the envelope; every failure is answered with its own status and
 * code. A bad token is answered before any other fault, so that bad input tells a stranger nothing.
 */
export function endpoint<
  Input extends v.GenericSchema,
  Output extends v.GenericSchema,
  Prefetched = undefined,
>(spec: SignedInSpec<Input, Output, Prefetched>): Endpoint {
  const { dialect = 'envelope', accepts = 'none' } = spec
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(logRequest())
    .use(answerFailures(dialect))
    .use(authenticate(spec.scope))
    .use(readBody(accepts))
    .handler(async (event) => {
      const session = event as typeof event & Session
      const input = parseEvent(spec, event)
      const [caller, prefetched] = await Promise.all([
        session.caller,
        // Without a prefetch the type parameter is undefined, as the value is.
        spec.prefetch?.(input, session.claimedUserId) as Promise<Prefetched>,
      ])
      return answer(await spec.run({ input, caller, prefetched, request: requestInfo(event) }), dialect)
    })
  return describe(handler, { ...spec, dialect, accepts })
}

/** Parses a request whose body readBody has already replaced by its parsed value. */
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

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>

function describe(handler: Handler, spec: EndpointDescription): Endpoint {
  const { scope, input, output, dialect, accepts } = spec
  return Object.assign((event: APIGatewayProxyEventV2, context: Context) => handler(event, context), {
    description: { scope, input, output, dialect, accepts },
  })
}
