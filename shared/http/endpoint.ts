import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type * as v from 'valibot'
import { consumedUnits, resetConsumedUnits } from '../db/consumed-units.ts'
import { emitMetric } from '../emit-metric.ts'
import { maintenanceVariable } from '../env.ts'
import { Failure, UnderMaintenance } from '../errors.ts'
import { countFailure, isUnavailable, passingCause } from '../faults.ts'
import { deadlineSignal, OutOfTime, runInvocation } from '../invocation.ts'
import { errorSummary, log } from '../log.ts'
import { parseInput } from '../parse-input.ts'
import type { RequiredScope } from '../tokens/scopes.ts'
import { corsHeaders, isPreflight } from './cors.ts'
import { type Dialect, fail, Reply, send, succeed } from './reply.ts'
import {
  type BodyKind,
  type HttpMiddleware,
  isForm,
  readBody,
  readParameters,
  type Repeats,
  type RequestInfo,
  requestInfo,
} from './request.ts'
import { requireEdge } from './require-edge.ts'

/** Handler of the HTTP requests of a Lambda function. */
export type Handler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>

/** The Lambda handler of an endpoint, together with the endpoint's description. */
export type Endpoint = Handler & { readonly description: EndpointDescription }

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
export interface EndpointSpec<Input extends v.GenericSchema, Output extends v.GenericSchema> {
  /** Schema of `{ path, query, body }`, as far as the endpoint reads them. */
  input: Input
  /** Schema of the answer's `data`, and type of what `run` returns. Only tests check answers against it. */
  output: Output
  /** Layout of the answer: `envelope` by default, `oauth` for endpoints that standard OAuth clients call. */
  dialect?: Dialect
  /** Which kind of request body the endpoint accepts; `none` by default. */
  accepts?: BodyKind
  /** Whether to `refuse` repeated parameters (default), or to omit them, so that `run` reports them. */
  repeats?: Repeats
}

/** The result of an endpoint's `run`: the `data` of an answer, or a complete answer as a Reply. */
export type Result<Output extends v.GenericSchema> = Promise<v.InferOutput<Output> | Reply>

/**
 * The middleware of every endpoint. Turns failures into answers and logs requests. Refuses requests that
 * bypass CloudFront (the edge) and, unless `answersInMaintenance` is true, requests during maintenance.
 */
export const frame = ({
  dialect = 'envelope',
  answersInMaintenance = false,
}: {
  dialect?: Dialect
  answersInMaintenance?: boolean
}): HttpMiddleware[] => [
  answerAndLog(dialect),
  requireEdge(),
  ...(answersInMaintenance ? [] : [refuseInMaintenance]),
]

/**
 * Middleware that turns failures into answers, adds `x-request-id` and CORS headers to every answer, and
 * writes one log line per request: id, route, status, duration and consumed DynamoDB units.
 */
function answerAndLog(dialect: Dialect): HttpMiddleware {
  let startedAt = 0
  const finish = ({ event, response }: Parameters<HttpMiddleware['after'] & object>[0]) => {
    const headers = {
      ...corsHeaders(event.headers['origin']),
      'x-request-id': event.requestContext.requestId,
    }
    if (response) response.headers = { ...response.headers, ...headers }
    log.info('request', {
      status: response?.statusCode,
      duration_ms: Date.now() - startedAt,
      ...consumedUnits(),
    })
  }
  return {
    before({ event }) {
      startedAt = Date.now()
      resetConsumedUnits()
      log.resetKeys()
      log.appendKeys({ request_id: event.requestContext.requestId, route: event.routeKey })
    },
    after: finish,
    onError(request) {
      request.response = answerFailure(request.error, dialect)
      finish(request)
    },
  }
}

/**
 * Answers a Failure with its own status and code, a temporary error as `unavailable`, and any other error as
 * `internal`. Error messages are not logged, because they may quote what was sent.
 */
function answerFailure(error: unknown, dialect: Dialect): APIGatewayProxyStructuredResultV2 {
  const failure = toFailure(error)
  const cause = errorSummary(error)
  if (failure.failure === 'internal') log.error('request failed', { cause })
  if (failure.failure === 'unavailable')
    log.warn('request failed for now', { passing_cause: passingCause(error), cause })
  countFailure(error)
  log.appendKeys({ failure: failure.failure })
  emitMetric('Failures', 1, { dimensions: { failure: failure.failure } })
  return fail(failure, dialect)
}

function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return isUnavailable(error) ? new Failure('unavailable', { retryAfterSeconds: 1 }) : new Failure('internal')
}

const maintenanceRetrySeconds = 60

/**
 * Middleware that answers every request with `unavailable` while the service is switched off, but for
 * preflights, without which no page could read that answer.
 */
const refuseInMaintenance: HttpMiddleware = {
  before({ event }) {
    // An empty value counts as not set, because setting a stage variable to the empty text removes it.
    if ((event.stageVariables?.[maintenanceVariable] ?? '') === '' || isPreflight(requestInfo(event))) return
    throw new Failure('unavailable', {
      retryAfterSeconds: maintenanceRetrySeconds,
      cause: new UnderMaintenance(),
    })
  },
}

/**
 * Time left to answer with 503 after the AWS calls are aborted. If Lambda ends a function before it answers,
 * the client gets API Gateway's 500, which has no envelope and no Retry-After.
 */
const answerReserveMilliseconds = 500

/** Lets middy answer in time even if the endpoint does not stop when its AWS calls are aborted. */
const answerInTime = {
  timeoutEarlyInMillis: answerReserveMilliseconds / 2,
  timeoutEarlyResponse: () => {
    throw deadlineSignal()?.reason ?? new OutOfTime(false)
  },
}

/** Creates a handler that calls `run` inside the given middleware. `readInput` parses the request's input. */
export function handle<Input extends v.GenericSchema, Output extends v.GenericSchema>(
  { input, dialect = 'envelope', accepts = 'none', repeats = 'refuse' }: EndpointSpec<Input, Output>,
  around: HttpMiddleware[],
  run: (event: APIGatewayProxyEventV2, readInput: () => v.InferOutput<Input>) => Result<Output>,
): Handler {
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(answerInTime)
    .use(around)
    .handler(async (event) => {
      const result: unknown = await run(event, () => {
        const body = readBody(event, accepts, repeats)
        const { pathParameters: path = {}, rawQueryString } = event
        return parseInput(input, { path, query: readParameters(rawQueryString, repeats), body })
      })
      return result instanceof Reply ? send(result) : succeed(result, dialect)
    })
}

/**
 * Creates an endpoint from a handler and its description. Its AWS calls end at the invocation's deadline at
 * the latest.
 */
export function toEndpoint(
  handler: Handler,
  { input, output, dialect = 'envelope', accepts = 'none' }: EndpointSpec<v.GenericSchema, v.GenericSchema>,
  scope: EndpointDescription['scope'],
): Endpoint {
  const run: Handler = (event, context) =>
    runInvocation(context, answerReserveMilliseconds, () => handler(event, context))
  return Object.assign(run, { description: { scope, input, output, dialect, accepts } })
}

/** Creates an endpoint without access_token: open to all, or with another way to authenticate callers. */
export function publicEndpoint<Input extends v.GenericSchema, Output extends v.GenericSchema>(
  spec: EndpointSpec<Input, Output> & {
    /** The endpoint also answers while the service is switched off for maintenance, so it must not write. */
    answersInMaintenance?: true
    run: (context: { input: v.InferOutput<Input>; request: RequestInfo }) => Result<Output>
  },
): Endpoint {
  const handler = handle(spec, frame(spec), (event, readInput) =>
    spec.run({ input: readInput(), request: requestInfo(event) }),
  )
  return toEndpoint(handler, spec, 'public')
}

/**
 * Joins two endpoints of one route: requests with a form go to `form`, all others to `json`, which also
 * describes the route.
 */
export function byMediaType({ form, json }: { form: Endpoint; json: Endpoint }): Endpoint {
  const run: Handler = (event, context) => (isForm(event) ? form : json)(event, context)
  return Object.assign(run, { description: json.description })
}
