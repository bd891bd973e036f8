import type { ValidateFunction } from 'ajv/dist/2020.js'
import { readFileSync } from 'node:fs'
import { inject } from 'vitest'

type Json = Record<string, unknown>

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Json }> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Json }
}

let document: Promise<Document> | undefined
const validators = new Map<string, ValidateFunction>()

/** Reads the API reference, which is generated once per run. */
async function readDocument(): Promise<Document> {
  const response = await fetchAsIs(inject('apiReference'))
  if (!response.ok) throw new Error(await response.text())
  return JSON.parse(readFileSync(await response.text(), 'utf8')) as Document
}

const fetchAsIs = globalThis.fetch

/**
 * Checks every answer of the API that a test receives: the API reference must describe its status, and its
 * body must match the schema. Answers of other paths (`/_local`, unknown routes) are not checked.
 */
globalThis.fetch = async (input, init) => {
  const response = await fetchAsIs(input, init)
  const request = new Request(
    input instanceof Request ? input.clone() : input,
    init?.method ? { method: init.method } : {},
  )
  const url = new URL(request.url)
  if (
    url.hostname === '127.0.0.1' &&
    response.headers.has('x-request-id') &&
    !url.pathname.startsWith('/_local')
  ) {
    await check(request.method, url.pathname, response.clone())
  }
  return response
}

async function check(method: string, path: string, response: Response): Promise<void> {
  const { paths, components } = await (document ??= readDocument())
  const template = Object.keys(paths).find((candidate) => matches(candidate, path))
  const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()]
  // An unknown path or method is answered 404 or 405, which the API reference does not list for every route.
  if (template === undefined || operation === undefined) return
  const described = operation.responses[String(response.status)]
  const where = `${method} ${template} answered ${response.status}`
  if (described === undefined) throw new Error(`${where}, which the API reference does not describe`)
  const schema = described.content?.['application/json']?.schema
  if (schema === undefined || !response.headers.get('content-type')?.startsWith('application/json')) return
  // A function's answer has the envelope. Only answers of the gateway, which have no x-request-id, lack it.
  const ownComponents = { ...components, schemas: { ...components.schemas, GatewayFailure: false } }
  const validate = validators.get(where) ?? (await compile({ ...schema, components: ownComponents }))
  validators.set(where, validate)
  const body: unknown = await response.json()
  if (!validate(body)) {
    const problems = validate.errors?.map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`)
    throw new Error(
      `${where} with a body that the API reference does not describe: ${problems?.join('; ') ?? ''}`,
    )
  }
}

/** The schema validator is loaded only when needed, because most test files receive no answer of the API. */
async function compile(schema: Json): Promise<ValidateFunction> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return new Ajv2020({ strict: false }).compile(schema)
}

const matches = (template: string, path: string): boolean =>
  new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path)
