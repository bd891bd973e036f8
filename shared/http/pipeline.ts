import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type * as v from 'valibot'
import type { RequiredScope } from '../tokens/scopes.ts'
import type { BodyKind } from './middleware/read-body.ts'
import { parseInput } from './parse-input.ts'
import { type Dialect, Reply, send, succeed } from './reply.ts'
import { readAuthorization, readParameters, sentParameters } from './request.ts'

/** What an endpoint may want to know of a request beyond its input. */
export interface RequestInfo {
  /** The peer's address as API Gateway saw it; never a header, which any client can write. */
  sourceIp: string
  /** The path as it was requested, without the query. */
  rawPath: string
  /** The query as it was requested. */
  rawQuery: string
  /** Names of query parameters that came more than once, for an endpoint that answers for them itself. */
  repeated: () => string[]
  /** Credentials of the `Authorization` header under the given scheme, in any case. */
  authorization: (scheme: string) => string | undefined
  /** A header by its lower-case name. */
  header: (name: string) => string | undefined
}

/** The part of an endpoint that is data: what the API reference and the tests derive from it. */
export interface EndpointDescription {
  /** Whom the endpoint answers: everyone, any token with the scope, or first-party tokens only. */
  readonly scope: RequiredScope | 'public'
  readonly input: v.GenericSchema
  readonly output: v.GenericSchema
  readonly dialect: Dialect
  readonly accepts: BodyKind
}

/** The `handler` of a function's bundle. */
export interface Endpoint {
  (event: APIGatewayProxyEventV2, context: Context): Promise<APIGatewayProxyStructuredResultV2>
  readonly description: EndpointDescription
}

export interface Common<Input extends v.GenericSchema, Output extends v.GenericSchema> {
  /** Schema of `{ path, query, body }`, as far as the endpoint reads them. */
  input: Input
  /** Schema of `data`. It types what `run` returns; answers are held against it by the tests, not at run time. */
  output: Output
  /** Layout of the answer; `envelope` unless unmodified OAuth clients read it. */
  dialect?: Dialect
  /** What the request body may be; `none` unless the endpoint reads one. */
  accepts?: BodyKind
  /** `report` leaves repeated query parameters out of the input and names them in RequestInfo; otherwise they are refused. */
  repeats?: 'refuse' | 'report'
}

/** What `run` resolves with: the `data` of the answer, or an answer that is no envelope. */
export type Result<Output extends v.GenericSchema> = Promise<v.InferOutput<Output> | Reply>

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>

/** Joins a handler with its description. */
export const describe = (handler: Handler, description: EndpointDescription): Endpoint =>
  Object.assign((event: APIGatewayProxyEventV2, context: Context) => handler(event, context), { description })

/** The input of a request whose body readBody has replaced by what it says. */
export const parse = <Input extends v.GenericSchema>(
  schema: Input,
  event: APIGatewayProxyEventV2,
  repeats: Common<Input, v.GenericSchema>['repeats'] = 'refuse',
) =>
  parseInput(schema, {
    path: event.pathParameters ?? {},
    query:
      repeats === 'refuse'
        ? readParameters(event.rawQueryString)
        : sentParameters(event.rawQueryString).parameters,
    body: event.body,
  })

/** The answer with which a result leaves. */
export async function answer(result: Promise<unknown>, dialect: Dialect) {
  const value = await result
  return value instanceof Reply ? send(value) : succeed(value, dialect)
}

/** What an endpoint may know of a request. */
export const info = (event: APIGatewayProxyEventV2): RequestInfo => ({
  sourceIp: event.requestContext.http.sourceIp,
  rawPath: event.rawPath,
  rawQuery: event.rawQueryString,
  repeated: () => sentParameters(event.rawQueryString).repeated,
  authorization: (scheme) => readAuthorization(event, scheme),
  header: (name) => event.headers[name],
})
