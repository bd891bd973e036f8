import { Random } from '../support/random.ts'
import type { ApiReference } from '../support/described-answer.ts'
import type { Actors } from './actors.ts'
import { knownValues, toJsonText, together } from './known-values.ts'
import { mutations } from './mutations.ts'
import { drawText } from './texts.ts'

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

/** Every operation of the API reference. */
export const listOperations = ({ paths }: ApiReference) =>
  Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      operation,
    })),
  )

/** Draws requests to every operation of the API reference. */
export class RequestSource {
  readonly #operations: ReturnType<typeof listOperations>
  readonly #actors: Actors
  readonly #known: Record<string, readonly string[]>

  constructor(reference: ApiReference, actors: Actors) {
    this.#operations = listOperations(reference)
    this.#actors = actors
    this.#known = knownValues(actors)
  }

  /** Draws the request with this number; the same seed and number always give the same one. */
  draw(seed: string, number: number): FuzzedRequest {
    const random = new Random(`${seed} ${number}`)
    const draft = this.#drawBase(random)
    const changes = random.pick([0, 0, 0, 1, 1, 1, 1, 2, 2, 4])
    for (let i = 0; i < changes; i += 1) random.pick(mutations)(draft, random, this.#actors)
    return write(draft)
  }

  #drawBase(random: Random): Draft {
    const { method, template, operation } = random.pick(this.#operations)
    const fitting = random.happens(0.6) ? (together[`${method} ${template}`]?.(this.#actors) ?? {}) : {}
    const valueOf = (name: string) =>
      fitting[name] ?? (random.happens(0.97) ? random.pick(this.#known[name] ?? ['']) : drawText(random))
    const { parameters = [], requestBody, security = [] } = operation
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeText(valueOf(name)))
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && (parameter.required || random.happens(0.5)))
      .map(({ name }): [string, string] => [name, encodeText(valueOf(name))])
    const types = Object.keys(requestBody?.content ?? {})
    const type = types.length === 0 ? undefined : random.pick(types)
    const members =
      type && this.#drawMembers(requestBody?.content[type]?.schema ?? {}, fitting, valueOf, random)
    const caller = random.pick(random.happens(0.9) ? this.#actors.callers : this.#actors.strangers)
    return {
      method,
      path,
      query,
      headers: [
        ...(security.length > 0
          ? [
              ['authorization', template === '/user/logout' ? 'Bearer ZZsessionZZ' : caller] as [
                string,
                string,
              ],
            ]
          : []),
        ...(type === undefined ? [] : [['content-type', type] as [string, string]]),
      ],
      members: members === undefined || members === '' ? undefined : members,
      isForm: type === 'application/x-www-form-urlencoded',
      rewrites: [],
    }
  }

  #drawMembers(
    schema: Record<string, unknown>,
    fitting: Record<string, string>,
    valueOf: (name: string) => string,
    random: Random,
  ): [string, string][] {
    const [one] = Array.isArray(schema['oneOf']) ? [random.pick(schema['oneOf'] as object[])] : [schema]
    const { properties = {}, required = [] } = one as {
      properties?: Record<string, { const?: string }>
      required?: string[]
    }
    return Object.entries(properties)
      .filter(([name]) => name in fitting || required.includes(name) || random.happens(0.5))
      .map(([name, { const: only }]) => [name, toJsonText(name, only ?? valueOf(name), random)])
  }
}

/** Percent-encodes a text as a form does; a lone surrogate becomes U+FFFD, because UTF-8 has none. */
export const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Longest path and query that are sent: Node's own server, and API Gateway, refuse longer ones. */
const maxTargetLength = 9_000

/** Writes a draft as it is sent. */
function write({ method, path, query, headers, members, isForm, rewrites }: Draft): FuzzedRequest {
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
