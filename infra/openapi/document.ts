import type { EndpointDescription } from '../../shared/http/endpoint.ts'
import { scopes } from '../../shared/tokens/scopes.ts'
import { type Route, routes } from '../routes.ts'
import { failureResponses, failureSchemas } from './failures.ts'
import type { Operation } from './operation.ts'
import { communityOperations } from './operations/community.ts'
import { moneyOperations } from './operations/money.ts'
import { signInOperations } from './operations/sign-in.ts'
import { inputSchema, type JsonSchema, members, outputSchema } from './schemas.ts'

const operations = { ...signInOperations, ...moneyOperations, ...communityOperations }

/** The routes that the document describes: all but HEAD, which answers as the GET route does. */
const describedRoutes = routes.filter(({ method }) => method !== 'HEAD')

/**
 * Builds the OpenAPI 3.1 document of the service. Parameters, bodies and answers come from the endpoints'
 * schemas; descriptions and examples come from operations/. Throws if an endpoint has no description, or a
 * description has no endpoint.
 */
export async function openApiDocument(): Promise<JsonSchema> {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of describedRoutes) {
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = describeRoute(route, await readDescription(route.entry))
  }
  const unknown = Object.keys(operations).filter(
    (key) => !describedRoutes.some((route) => keyOf(route) === key),
  )
  if (unknown.length > 0) throw new Error(`described but not routed: ${unknown.join(', ')}`)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Account, wallet, community and rewards service',
      version: '1.0.0',
      description:
        'Every JSON answer of the service has `code`, `msg` and `data`; `code` is 0 on success. Amounts are JSON numbers with all their digits. Instants are epoch milliseconds, dates `yyyy-MM-dd` in the reporting time zone. What API Gateway refuses itself (413, 429, 500, 503) has its own body, `{"message": …}`, and no `Retry-After`: a client goes by the status. Unknown members of a JSON body are ignored, but a body with a member `__proto__`, or with a `constructor` that has a `prototype`, is refused with 40000.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    // The server URL is relative, so the document describes the API that serves it.
    servers: [{ url: '/' }],
    tags: tags(),
    paths,
    components: { securitySchemes: securitySchemes(), schemas: failureSchemas() },
  }
}

const keyOf = ({ method, path }: Route): string => `${method} ${path}`

async function readDescription(entry: string): Promise<EndpointDescription> {
  const file = new URL(`../../functions/${entry}.ts`, import.meta.url).href
  const module = (await import(file)) as { handler: { description: EndpointDescription } }
  return module.handler.description
}

const tagNames: Record<string, string> = {
  oauth2: 'OpenID provider',
  '.well-known': 'OpenID provider',
  user: 'Password sign-in',
  account: 'Asset wallet',
  'bonus-account': 'Reward wallet',
  community: 'Community',
  dashboard: 'Dashboard',
  address: 'Deposits',
  deposit: 'Deposits',
}

const tagOf = (path: string): string => tagNames[path.split('/')[1] ?? ''] ?? 'Other'

const tags = () =>
  [...new Set(routes.map(({ path }) => tagOf(path)))].map((name) => ({ name, description: name }))

function describeRoute(route: Route, endpoint: EndpointDescription): JsonSchema {
  const operation = operations[keyOf(route)]
  if (operation === undefined) throw new Error(`${keyOf(route)} has no description in operations/`)
  const input = addChecks(inputSchema(endpoint.input), operation)
  const parameters = (['path', 'query'] as const).flatMap((location) =>
    members(input, location).map(({ name, required, schema }) => ({
      name,
      in: location,
      required: location === 'path' || required,
      schema: location === 'path' || required ? schema : orEmpty(schema),
    })),
  )
  return {
    operationId:
      route.entry.replaceAll(/[^A-Za-z0-9]+/g, '-') +
      (route.method === 'POST' && hasOtherMethod(route) ? '-post' : ''),
    summary: operation.summary,
    description: operation.description,
    tags: [tagOf(route.path)],
    security: security(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.accepts === 'none' ? {} : { requestBody: requestBody(input, endpoint, operation) }),
    responses: {
      ...successes(endpoint, operation),
      ...failureResponses(endpoint, operation),
    },
  }
}

/** Adds an operation's checks to the schema of the input that they check: the body or the query. */
function addChecks(input: JsonSchema, { checks }: Operation): JsonSchema {
  const parts = input['properties'] as Record<string, JsonSchema>
  if (checks === undefined) return input
  const checked = Object.entries(parts).map(([location, part]): [string, JsonSchema] => {
    const properties = Object.entries(part['properties'] as Record<string, JsonSchema>)
    const checkedProperties = properties.map(([name, schema]) => [
      name,
      { ...schema, ...checks.properties[name] },
    ])
    return [
      location,
      { ...part, properties: Object.fromEntries(checkedProperties), required: checks.required },
    ]
  })
  return { ...input, properties: Object.fromEntries(checked) }
}

/** The schema of an optional query parameter: an empty value counts as omitted. */
function orEmpty(schema: JsonSchema): JsonSchema {
  const { type, pattern, format } = schema as { type?: string; pattern?: string; format?: string }
  const isAnyText = type === 'string' && format === undefined && schema['enum'] === undefined
  const allowsEmpty = isAnyText && (pattern === undefined || new RegExp(pattern, 'u').test(''))
  return allowsEmpty || schema['const'] === '' ? schema : { anyOf: [schema, { const: '' }] }
}

const hasOtherMethod = (route: Route): boolean =>
  describedRoutes.some((other) => other.entry === route.entry && other.method !== route.method)

function security({ scope }: EndpointDescription): JsonSchema[] {
  if (scope === 'public') return []
  return scope === 'first-party' ? [{ firstParty: [] }] : [{ accessToken: [scope] }]
}

function requestBody(input: JsonSchema, { accepts }: EndpointDescription, operation: Operation): JsonSchema {
  const schema = (input['properties'] as Record<string, JsonSchema> | undefined)?.['body'] ?? {
    type: 'object',
  }
  const media = { schema, ...(operation.request === undefined ? {} : { example: operation.request }) }
  const content: JsonSchema = { 'application/json': media }
  if (accepts !== 'json') content['application/x-www-form-urlencoded'] = media
  return { required: true, content }
}

function successes(endpoint: EndpointDescription, operation: Operation): JsonSchema {
  const responses: JsonSchema = {}
  for (const [status, { description, headers = {} }] of Object.entries(operation.replies ?? {})) {
    const described = Object.entries(headers).map(([name, text]): [string, JsonSchema] => [
      name,
      { description: text, schema: { type: 'string' } },
    ])
    responses[status] = {
      description,
      ...(described.length > 0 ? { headers: Object.fromEntries(described) } : {}),
    }
  }
  if (operation.replies?.[302] !== undefined) return responses
  const data = outputSchema(endpoint.output)
  const standard = endpoint.dialect === 'oauth' ? (operation.example as object | null) : null
  responses['200'] = {
    description: 'Success',
    content: {
      'application/json': {
        schema: successSchema(data, endpoint),
        example: { ...standard, code: 0, msg: 'success', data: operation.example },
      },
    },
  }
  return responses
}

function successSchema(data: JsonSchema, { dialect }: EndpointDescription): JsonSchema {
  const envelope = {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: { code: { const: 0 }, msg: { const: 'success' }, data },
  }
  return dialect === 'oauth' && data['type'] === 'object' ? { allOf: [envelope, data] } : envelope
}

const securitySchemes = (): JsonSchema => ({
  accessToken: {
    type: 'oauth2',
    description: 'An access_token of the code flow or the password flow, as `Authorization: Bearer …`.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/oauth2/authorize',
        tokenUrl: '/oauth2/token',
        scopes: Object.fromEntries(scopes.map((scope) => [scope, `Scope ${scope}`])),
      },
    },
  },
  firstParty: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access_token of the password flow.',
  },
})
