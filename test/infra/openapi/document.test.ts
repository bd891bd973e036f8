import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { demoLoginPassword, demoUsers } from '../../../infra/local/demo/demo-users.ts'
import { openApiDocument } from '../../../infra/openapi/document.ts'
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'
import { failures } from '../../../shared/errors.ts'
import { BillType } from '../../../shared/ledger/bill-types.ts'
import { closeSchema, resolveReferences } from '../../support/described-answer.ts'

interface Media {
  schema: JsonSchema
  example?: unknown
}

interface Operation {
  parameters?: {
    name: string
    in: string
    required: boolean
    allowEmptyValue?: boolean
    schema: JsonSchema
    description?: string
  }[]
  description: string
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const document = await openApiDocument()
const { paths } = resolveReferences(document, document) as {
  paths: Record<string, Record<string, Operation>>
}
const formats = { date: /^\d{4}-\d\d-\d\d$/, int32: true, int64: true, decimal: true } as const
const ajv = new Ajv2020({ strict: false, formats })
const parametersOf = (path: string) => paths[path]?.['get']?.parameters ?? []

/** Whether the API reference allows a value for a parameter, or for a member of a request body. */
function allows(path: string, name: string, value: unknown): boolean {
  const parameter = parametersOf(path).find((each) => each.name === name)
  const [body] = Object.values(paths[path]?.['post']?.requestBody?.content ?? {})
  const { properties } = (body?.schema ?? {}) as { properties?: Record<string, JsonSchema> }
  const schema = parameter?.schema ?? properties?.[name]
  if (schema === undefined) throw new Error(`${path} has no ${name}`)
  return ajv.validate(schema, value)
}

it('every optional query parameter may be empty', () => {
  const optional = Object.keys(paths).flatMap((path) =>
    parametersOf(path).filter((parameter) => parameter.in === 'query' && !parameter.required),
  )
  expect(optional.length).toBeGreaterThan(20)
  for (const { name, allowEmptyValue } of optional) expect(allowEmptyValue, name).toBe(true)
})

it.each([
  ['/account/bills', 'size', [1, 20], [0, 21, '', '01']],
  ['/account/bills', 'current', [1, 2_147_483_647], [0, 2_147_483_648, '']],
  ['/account/bills', 'amountDirection', [1, 2], [0, 3, 1.5]],
  ['/account/bills', 'endTime', ['2026-11-22', '0001-01-01'], ['2026', '0000-01-01']],
  ['/community/members', 'keyword', ['', '😀'.repeat(254)], ['k'.repeat(255)]],
  ['/community/members/note', 'note', ['', '😀'.repeat(20)], ['n'.repeat(21), 'n\n']],
  ['/community/members/note', 'target_user_id', [1, 2 ** 53 - 1], [0, 1.5, '01']],
  ['/user/login-with-password', 'email', [' a@b.example '], ['a', 'a@b@c', `a@${'b'.repeat(253)}`]],
  ['/user/logout', 'id', ['1', '😀'.repeat(40)], ['', 'a'.repeat(41), 1]],
  ['/oauth2/authorize/consent', 'max_age', [0, 999_999_999_999], [-1, 1.5, 1e12]],
  ['/oauth2/authorize/consent', 'code_challenge', ['A'.repeat(43)], ['', 'A'.repeat(42)]],
  ['/oauth2/token', 'code', ['c'], ['']],
])('for %s, the API reference allows only valid values of %s', (path, name, allowed, forbidden) => {
  for (const value of allowed) expect(allows(path, name, value), JSON.stringify(value)).toBe(true)
  for (const value of forbidden) expect(allows(path, name, value), JSON.stringify(value)).toBe(false)
})

const { schemas } = document['components'] as { schemas: Record<string, { properties?: object }> }

it('the API reference keeps the schema names that clients use', () => {
  const names = `Account AccountBalanceVO AccountListAnswer AssetSummary Bill BillPage BillPageAnswer BillType
    CommunityMemberPage CommunityMemberVO DashboardOverviewVO DepositAddress DepositPage DepositRecord DepositStatus
    EarningCurrencyVO EarningPointVO EmptyAnswer Failure JsonWebKeySet LoginForm LoginResultVO LoginVerifyForm
    MemberType NetworkRewardVO TokenAnswer TwoFactorMethod UserDetails`
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(names.split(/\s+/)))
})

it('every schema with properties has a name in the API reference', () => {
  const members = Object.values(schemas).flatMap(({ properties = {} }) => Object.entries(properties))
  const unnamed = members.filter(([, schema]) => /"(properties|enum)":/.test(JSON.stringify(schema)))
  expect(unnamed.map(([name]) => name)).toEqual(['method'])
  expect(JSON.stringify(document['paths'])).not.toContain('"properties":')
})

it('no schema of the API reference uses a feature that some client generators cannot read', () => {
  const problems: unknown[] = []
  JSON.stringify(document, (_, part: JsonSchema | null) => {
    const { const: constant, type, maximum, anyOf, oneOf } = part ?? {}
    const isUnion = anyOf ?? (oneOf && !JSON.stringify(oneOf).endsWith(',{"type":"null"}]'))
    if (isUnion || (constant !== undefined && !type) || Number(maximum) > 1e12) problems.push(part)
    return part
  })
  expect(problems).toEqual([])
})

it('the example requests in the API reference are requests of the demo user Alice', () => {
  const request = (path: string) =>
    Object.values(paths[path]?.['post']?.requestBody?.content ?? {})[0]?.example as Record<string, unknown>
  const [alice, , , dave] = demoUsers
  expect(request('/user/login-with-password')).toMatchObject({ login_password: demoLoginPassword })
  expect(request('/user/logout')).toEqual({ id: String(alice?.user_id) })
  expect(request('/community/members/note')).toMatchObject({ target_user_id: dave?.user_id })
  expect(parametersOf('/account/bills').filter((each) => 'example' in each)).toHaveLength(2)
})

it('the API reference names the bill types', () => {
  for (const type of BillType.options)
    expect(parametersOf('/account/bills').find(({ name }) => name === 'businessId')?.description).toContain(
      type,
    )
})

it('the API reference names the hourly limit of mailed codes', () => {
  expect(paths['/user/login-with-password']?.['post']?.description).toMatch(
    /five codes an hour.+`EMAIL`.+429/,
  )
})

it('the API reference names the error codes of requests that match no endpoint', () => {
  const { description } = document['info'] as { description: string }
  for (const name of ['no_route', 'method_not_allowed'] as const)
    expect(description).toContain(failures[name].code)
})

const examples = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { requestBody, responses }]) => {
    const name = `${method.toUpperCase()} ${path}`
    const [request] = Object.values(requestBody?.content ?? {})
    const answer = responses['200']?.content?.['application/json']
    return [
      ...(request?.example === undefined ? [] : [{ name: `the request of ${name}`, ...request }]),
      ...(answer === undefined ? [] : [{ name: `the answer of ${name}`, ...answer }]),
    ]
  }),
)

it.each(examples)('the example in the API reference matches its schema: $name', ({ schema, example }) => {
  const validator = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  validator.validate(closeSchema(schema) as object, example)
  expect(validator.errors).toBeNull()
})
