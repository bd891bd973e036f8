import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type * as v from 'valibot'
import type { RequiredScope } from '../tokens/scopes.ts'
import { deadlineSignal, OutOfTime, runInvocation } from '../invocation.ts'
import { answerFailures } from './middleware/answer-failures.ts'
import { logRequest } from './middleware/log-request.ts'
import { type BodyKind, readBody } from './read-body.ts'
import { refuseInMaintenance } from './middleware/refuse-in-maintenance.ts'
import { requireEdge } from './middleware/require-edge.ts'
import { parseInput } from '../parse-input.ts'
import { type Dialect, Reply, send, succeed } from './reply.ts'
import { type HttpMiddleware, readParameters, sentParameters } from './request.ts'

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
export interface EndpointSpec<Input extends v.GenericSchema, Output extends v.GenericSchema> {
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

/** What running an endpoint returns: the `data` of the answer, or an answer without an envelope. */
export type Result<Output extends v.GenericSchema> = Promise<v.InferOutput<Output> | Reply>

/** The middleware around every endpoint: logs a request, answers its failures, and refuses it if it must. */
export const frame = ({
  dialect = 'envelope',
  answersInMaintenance = false,
}: {
  dialect?: Dialect
  answersInMaintenance?: boolean
}): HttpMiddleware[] => [
  logRequest(),
  answerFailures(dialect),
  requireEdge(),
  ...(answersInMaintenance ? [] : [refuseInMaintenance()]),
]

/**
 * Time before the end of the function at which its AWS calls are ended, so that it answers 503 itself: killed
 * by Lambda, it would leave the client with API Gateway's 500, which has no envelope and no Retry-After.
 */
const answerReserveMilliseconds = 500

/** Options of middy with which an endpoint answers even if its work does not end with its AWS calls. */
const answerInTime = {
  timeoutEarlyInMillis: answerReserveMilliseconds / 2,
  timeoutEarlyResponse: () => {
    throw deadlineSignal()?.reason ?? new OutOfTime(false)
  },
}

/** Answers the events of a function. */
export type Handler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>

/** Handles requests, with middleware around. `run` gets a function that reads and parses the input. */
export function handle<Input extends v.GenericSchema, Output extends v.GenericSchema>(
  { input, dialect = 'envelope', accepts = 'none', repeats = 'refuse' }: EndpointSpec<Input, Output>,
  around: HttpMiddleware[],
  run: (event: APIGatewayProxyEventV2, readInput: () => v.InferOutput<Input>) => Result<Output>,
): Handler {
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(answerInTime)
    .use(around)
    .handler(async (event) => {
      const result: unknown = await run(event, () => {
        const body = readBody(event, accepts)
        const { pathParameters: path = {}, rawQueryString: text } = event
        const query = repeats === 'refuse' ? readParameters(text) : sentParameters(text).parameters
        return parseInput(input, { path, query, body })
      })
      return result instanceof Reply ? send(result) : succeed(result, dialect)
    })
}

/** Makes an endpoint of a handler, which runs within the deadline of its invocation, and its description. */
export function toEndpoint(
  handler: Handler,
  { input, output, dialect = 'envelope', accepts = 'none' }: EndpointSpec<v.GenericSchema, v.GenericSchema>,
  scope: EndpointDescription['scope'],
): Endpoint {
  const run: Handler = (event, context) =>
    runInvocation(context, answerReserveMilliseconds, () => handler(event, context))
  return Object.assign(run, { description: { scope, input, output, dialect, accepts } })
}
