import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** A JSON Schema of the API reference. */
export type ReferenceSchema = Record<string, unknown>

/** An operation of the API reference. */
export interface Operation {
  security?: Record<string, string[]>[]
  parameters?: { name: string; in: 'path' | 'query'; required: boolean; schema: ReferenceSchema }[]
  requestBody?: { content: Record<string, { schema: ReferenceSchema }> }
  responses: Record<
    string,
    {
      headers?: Record<string, unknown>
      content?: Record<string, { schema: ReferenceSchema; examples?: Record<string, { value: unknown }> }>
    }
  >
}

/** The API reference, an OpenAPI 3.1 document. */
export interface ApiReference {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<'Failure', ReferenceSchema> }
}

/** An answer of the API. `json` is the parsed body if the content type is JSON. */
export interface JsonAnswer {
  method: string
  path: string
  status: number
  json: unknown
}

/** Finds the path template and the operation that the API reference has for a request's method and path. */
export function findOperation(
  { paths }: ApiReference,
  method: string,
  path: string,
): { template: string; operation: Operation } | undefined {
  const template = Object.keys(paths).find((candidate) => matches(candidate, path))
  const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()]
  return template === undefined || operation === undefined ? undefined : { template, operation }
}

const matches = (template: string, path: string): boolean =>
  new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path)

/** Finds answers with a status, an error code or a body that the API reference does not describe. */
export class AnswerCheck {
  readonly #reference: ApiReference
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(reference: ApiReference) {
    this.#reference = resolveReferences(reference, reference) as ApiReference
  }

  /** Says how an answer differs from the API reference; undefined if it agrees, or its route is unknown. */
  problemOf({ method, path, status, json }: JsonAnswer): string | undefined {
    const found = findOperation(this.#reference, method, path)
    // The API reference has no entry for an unknown path or method. Such answers are 404 and 405.
    if (found === undefined) return undefined
    const where = `${method} ${found.template} answered ${status}`
    const described = found.operation.responses[String(status)]
    if (described === undefined) return `${where}, which the API reference does not describe`
    const content = described.content?.['application/json']
    if (content === undefined || json === undefined) return undefined
    const { schema, examples } = content
    // The API reference has an example for each error code.
    const { code } = json as { code?: unknown }
    const codes = Object.values(examples ?? {}).map(({ value }) => (value as { code?: unknown }).code)
    if (examples !== undefined && (code === undefined || !codes.includes(code)))
      return `${where} with code ${String(code)}, which the API reference does not name`
    // Failures of the service match `Failure`. They are not compared with `schema`, which allows more.
    const expected = status < 400 ? schema : this.#reference.components.schemas.Failure
    const validate =
      this.#validators.get(where) ??
      new Ajv2020({ strict: false, validateSchema: false, validateFormats: false }).compile(
        closeSchema(expected) as object,
      )
    this.#validators.set(where, validate)
    if (validate(json)) return undefined
    const problems = validate.errors?.map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`)
    return `${where} with a body that the API reference does not describe: ${problems?.join('; ') ?? ''}`
  }
}

/** Replaces each `$ref` in a part of the API reference with the part to which the `$ref` points. */
export function resolveReferences(part: unknown, reference: object): unknown {
  if (Array.isArray(part)) return part.map((item) => resolveReferences(item, reference))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as { $ref?: string }
  const target = $ref
    ?.split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], reference)
  if (target !== undefined) return { ...rest, ...(resolveReferences(target, reference) as object) }
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, resolveReferences(value, reference)]),
  )
}

/** Closes a schema: in every object, members that the schema does not name are forbidden. */
export function closeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const closed = Object.entries(schema).map(([name, value]): [string, unknown] => [
    name,
    // The parts of an allOf describe one object, so only the allOf as a whole can forbid other members.
    name === 'allOf' ? (value as object[]).map((part) => closeMembers(part)) : closeSchema(value),
  ])
  const isObject = 'properties' in schema || 'allOf' in schema
  return { ...Object.fromEntries(closed), ...(isObject && { unevaluatedProperties: false }) }
}

const closeMembers = (part: object): object =>
  Object.fromEntries(Object.entries(part).map(([name, value]) => [name, closeSchema(value)]))
