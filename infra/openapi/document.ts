import type { EndpointDescription } from '../../shared/http/endpoint.ts'
import { type Route, routes } from '../routes.ts'
import { type Components, namePart, nameSchema, pascalCase } from './components.ts'
import { failureResponses, failureSchemas } from './failures.ts'
import type { Operation } from './operation.ts'
import { communityOperations } from './operations/community.ts'
import { moneyOperations } from './operations/money.ts'
import { signInOperations } from './operations/sign-in.ts'
import { inputSchema, type JsonSchema, type JsonSchemas, members, objectOf, outputSchema } from './schemas.ts'

const operations = { ...signInOperations, ...moneyOperations, ...communityOperations }

/** The routes that the document describes: all but HEAD, which answers as the GET route does. */
const describedRoutes = routes.filter(({ method }) => method !== 'HEAD')

/**
 * Builds the OpenAPI 3.1 document of the service. Parameters, bodies and answers come from the endpoints'
 * schemas. Descriptions and examples come from operations/. Throws if an endpoint has no description, or if a
 * description belongs to no endpoint.
 */
export async function openApiDocument(): Promise<JsonSchema> {
  const paths: Record<string, JsonSchemas> = {}
  const components: Components = { schemas: { ...failureSchemas }, parameters: {}, responses: {} }
  for (const route of describedRoutes) {
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = describeRoute(route, await readDescription(route.entry), components)
  }
  if (Object.keys(operations).length > describedRoutes.length) throw new Error('described but not routed')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Account, wallet, community and rewards service',
      version: '1.0.0',
      description,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    // The server URL is relative, so the document describes the API that serves it.
    servers: [{ url: '/' }],
    tags: Object.values(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: { securitySchemes, ...components },
  }
}

/** The introduction of the document. Each text is a paragraph of Markdown. */
const description = [
  'Every JSON answer of the service has `code`, `msg` and `data`; `code` is 0 on success. Instants are epoch milliseconds, dates `yyyy-MM-dd` in the reporting time zone. Unknown members of a JSON body are ignored, but a body with a member `__proto__`, or with a `constructor` that has a `prototype`, is refused with 40000, and one with a repeated member with 40001.',
  '**Amounts** (`format: decimal`) are JSON numbers with up to 38 digits, twice as many where a rate was applied; a double has 16. Read them with a decimal parser: `json.loads(text, parse_float=Decimal)` and then `model_validate` in Python (pydantic’s `model_validate_json` needs a `Decimal` read from text, and has only a double), `BigDecimal` in Java, `json.Number` in Go, the source text of the number in JavaScript. Every other number is whole and below 2^53.',
  '**Failures**: go by the status first, then by `code` if the body has one; later releases add codes. An unknown path is answered 404 with 40400, a known path with another method 405 with 40500. What API Gateway refuses itself (413, 429, 500, 503) has its own body, `{"message": …}`, and no `Retry-After`. After a 429 or 503 wait for `Retry-After` seconds or, without it, for a second and twice as long with each attempt. Repeating a request is safe: nothing takes effect twice.',
].join('\n\n')

const keyOf = ({ method, path }: Route): string => `${method} ${path}`

async function readDescription(entry: string): Promise<EndpointDescription> {
  const file = new URL(`../../functions/${entry}.ts`, import.meta.url).href
  const module = (await import(file)) as { handler: { description: EndpointDescription } }
  return module.handler.description
}

/** The tags of the OpenAPI document, with descriptions, keyed by the first segments of endpoint paths. */
const tags: Record<string, [name: string, text: string]> = {
  'oauth2 .well-known': ['OpenID provider', 'The authorization-code flow with PKCE, its tokens and keys.'],
  user: ['Password sign-in', 'Sign-in by password and second factor, and sign-out.'],
  account: ['Asset wallet', 'What a user owns, and every change of it.'],
  'bonus-account': ['Reward wallet', 'What a user was rewarded with.'],
  community: ['Community', 'Whom a user referred, directly or through others.'],
  dashboard: ['Dashboard', 'Sums of a user’s rewards, devices and traffic.'],
  'address deposit': ['Deposits', 'The addresses to pay to, and what was paid.'],
  withdrawal: ['Withdrawals', 'What a user asked to be paid out, and what became of it.'],
}

const tagOf = (path: string): string | undefined =>
  Object.entries(tags).find(([folders]) => folders.split(' ').includes(path.split('/')[1] ?? ''))?.[1][0]

function describeRoute(route: Route, endpoint: EndpointDescription, components: Components): JsonSchema {
  const operation = operations[keyOf(route)]
  if (operation === undefined) throw new Error(`${keyOf(route)} has no description in operations/`)
  if (operation.data === undefined && !['null', 'never'].includes(endpoint.output.type))
    throw new Error(`${keyOf(route)} has no \`data\` in operations/, the name of its answer's schema`)
  const input = addChecks(inputSchema(endpoint.input), operation)
  const parameters = (['path', 'query'] as const).flatMap((location) =>
    members(input, location).map((member) => describeParameter(member, location, components)),
  )
  const { form, request, replies } = operation
  // Leave out JSON, which OAuth endpoints also accept: generated Python clients break if there are two media
  // types.
  const mediaType = endpoint.accepts === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'
  const schema = nameSchema(components, form, (input['properties'] as JsonSchemas)['body'] ?? {})
  return {
    operationId: `${route.method.toLowerCase()}${pascalCase(route.entry)}`,
    summary: operation.summary,
    description: operation.description,
    tags: [tagOf(route.path)],
    security: security(endpoint, members(input, 'body')),
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.accepts !== 'none' && {
      requestBody: { required: true, content: { [mediaType]: { schema, example: request } } },
    }),
    responses: {
      ...(endpoint.output.type === 'never' ? {} : { 200: describeSuccess(endpoint, operation, components) }),
      ...replies,
      ...failureResponses(endpoint, operation, components),
    },
  }
}

/** Examples of required parameters, by name, with which a reader can try a request on the local stack. */
const examples: Record<string, unknown> = {
  ...{ current: 1, size: 20, currency: 'USDT', currencyNetWork: 'TRC20' },
  ...(operations['POST /oauth2/authorize/consent']?.request as object),
  id: (operations['GET /deposit/get/{id}']?.example as { id: string }).id,
}

function describeParameter(
  { name, required, schema: { description: text, ...schema } }: ReturnType<typeof members>[number],
  location: 'path' | 'query',
  components: Components,
): JsonSchema {
  const isOptional = location === 'query' && !required
  return namePart(components, 'parameters', pascalCase(name), {
    name,
    in: location,
    description: isOptional ? [text, 'Empty counts as omitted.'].join(' ').trim() : text,
    required: !isOptional,
    ...(isOptional ? { allowEmptyValue: true } : {}),
    schema: nameSchema(components, name === 'type' ? 'MemberType' : undefined, schema),
    ...(!isOptional && name in examples ? { example: examples[name] } : {}),
  })
}

/** Adds the checks of an operation to the schemas of its input: those of the body and of the query. */
function addChecks(input: JsonSchema, { checks }: Operation): JsonSchema {
  if (checks === undefined) return input
  const parts = input['properties'] as JsonSchemas
  const checked = Object.entries(parts).map(([location, part]): [string, JsonSchema] => {
    // Alternative schemas (`oneOf`) are described as one schema with all their properties.
    const forms = (part['oneOf'] ?? [part]) as { properties: JsonSchemas }[]
    const named = forms.flatMap((form) => Object.entries(form.properties))
    const properties = named.map(([name, schema]) => {
      const check = checks.properties[name] ?? {}
      return [name, 'type' in check ? check : { ...schema, ...check }]
    })
    return [location, { type: 'object', ...checks, properties: Object.fromEntries(properties) }]
  })
  return { ...input, properties: Object.fromEntries(checked) }
}

/**
 * The credentials that an endpoint takes, as OpenAPI's `security`. An empty list or object means none.
 * `accessToken` lists the required scope, or `first-party`.
 */
function security({ scope }: EndpointDescription, body: { name: string }[]): JsonSchema[] {
  const sends = (member: string) => body.some(({ name }) => name === member)
  if (scope !== 'public') return [{ accessToken: [scope] }]
  if (sends('client_secret')) return [{}, { clientSecret: [] }]
  return sends('access_token') ? [{}, { accessToken: ['first-party'] }] : []
}

/** The successful answer. OAuth endpoints also put the members of `data` beside `code` and `msg`. */
function describeSuccess(
  { dialect, output }: EndpointDescription,
  { data, example = null, csv }: Operation,
  components: Components,
): JsonSchema {
  const schema = output.type === 'null' ? nothing : outputSchema(output)
  const named = nameSchema(components, data, schema)
  const answer = `${(data ?? 'Empty').replace(/VO$/, '')}${'items' in schema ? 'List' : ''}Answer`
  const isStandard = dialect === 'oauth' && data !== undefined
  const envelope = objectOf({ ...successful, data: named })
  const media = {
    schema: nameSchema(components, answer, isStandard ? { allOf: [named, envelope] } : envelope),
    example: { ...(isStandard && (example as object)), code: 0, msg: 'success', data: example },
  }
  const table = csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' }, example: csv } }
  return { description: 'Success', content: { 'application/json': media, ...table } }
}

const successful = {
  code: { type: 'integer', format: 'int32', const: 0 },
  msg: { type: 'string', const: 'success' },
}

/** Schema of null. It also allows '', because generators for Java and Go have no type for null alone. */
const nothing: JsonSchema = { type: ['string', 'null'], maxLength: 0, description: 'Always null.' }

const bearer =
  'An access_token with the scope that the operation names; `first-party`: one of the password flow.'
const basic = 'client_id and client_secret of a confidential client. Others send client_id in the body.'
const securitySchemes = {
  accessToken: { type: 'http', scheme: 'bearer', description: bearer },
  clientSecret: { type: 'http', scheme: 'basic', description: basic },
}
