import type { ApiReference, Operation, ReferenceSchema } from '../support/described-answer.ts'
import type { Random } from '../support/random.ts'
import type { Actors } from './actors.ts'

/** A request while it is drawn: still in parts, each of which a mutation may change. */
export interface Draft {
  method: string
  /** Percent-encoded path. */
  path: string
  /** Percent-encoded names and values. */
  query: [name: string, value: string][]
  headers: [name: string, value: string][]
  /** Names and JSON texts of the body's members; undefined without a body. */
  members: [name: string, json: string][] | undefined
  /** How the members are written. */
  isForm: boolean
  /** Changes of the body as it is written. */
  rewrites: ((body: string) => string | Buffer)[]
}

/** A request as it is sent, apart from one-time values that placeholders stand for. */
export interface FuzzedRequest {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer | undefined
}

/** Changes a request while it is drawn. */
export type Change = (draft: Draft, random: Random, actors: Actors) => unknown

/** An operation of the API reference, with its address. */
export interface ListedOperation {
  method: string
  template: string
  operation: Operation
}

/** Every operation of the API reference. */
export const listOperations = ({ paths }: ApiReference): ListedOperation[] =>
  Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      operation,
    })),
  )

/** A form that the body of an operation may have; without a media type the operation has no body. */
export interface Form {
  type: string | undefined
  isForm: boolean
  schema: {
    properties?: Record<string, ReferenceSchema & { const?: string }>
    required?: string[]
  }
}

/** The forms that the body of an operation may have: each media type, and each alternative of its schema. */
export function formsOf({ requestBody }: Operation): Form[] {
  if (requestBody === undefined) return [{ type: undefined, isForm: false, schema: {} }]
  return Object.entries(requestBody.content).flatMap(([type, { schema }]) =>
    ((schema['oneOf'] ?? [schema]) as ReferenceSchema[]).map((one) => ({
      type,
      isForm: type === 'application/x-www-form-urlencoded',
      schema: one,
    })),
  )
}

/** Percent-encodes a text as a form does; a lone surrogate becomes U+FFFD, because UTF-8 has none. */
export const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Longest path and query that are sent: Node's own server, and API Gateway, refuse longer ones. */
const maxTargetLength = 9_000

/** Writes a draft as it is sent. */
export function write({ method, path, query, headers, members, isForm, rewrites }: Draft): FuzzedRequest {
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  let body: string | Buffer | undefined
  if (members !== undefined && isForm)
    body = members.map(([name, json]) => `${encodeText(name)}=${encodeText(formText(json))}`).join('&')
  else if (members !== undefined)
    body = `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  for (const rewrite of rewrites) if (body !== undefined) body = rewrite(body.toString())
  return {
    method,
    target: (search === '' ? path : `${path}?${search}`).slice(0, maxTargetLength),
    headers,
    body: typeof body === 'string' ? Buffer.from(body) : body,
  }
}

/** The value of a form's field for a value in JSON. */
function formText(json: string): string {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : json
  } catch {
    return json
  }
}
