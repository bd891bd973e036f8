import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../../infra/openapi/document.ts'
import type { JsonSchema } from '../../../infra/openapi/schemas.ts'
import { depositId } from '../../../shared/deposits/deposit.ts'
import { putBill } from '../../../shared/ledger/bill.ts'
import { Big } from '../../../shared/money.ts'
import { issueCode } from '../../../shared/oauth/authorization-code.ts'
import { newLoginTicket } from '../../../shared/sign-in/ticket.ts'
import { issueAccessToken } from '../../../shared/tokens/access-token.ts'
import { closeSchema } from '../../support/described-answer.ts'

interface Media {
  schema: JsonSchema
  example?: unknown
}

interface Operation {
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const { paths } = (await openApiDocument()) as { paths: Record<string, Record<string, Operation>> }

/** Every example of a request or of a successful answer in the API reference, with its schema. */
const examples = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { requestBody, responses }]) => {
    const name = `${method.toUpperCase()} ${path}`
    const request = requestBody?.content['application/json']
    const answer = responses['200']?.content?.['application/json']
    return [
      ...(request?.example === undefined ? [] : [{ name: `the request of ${name}`, ...request }]),
      ...(answer === undefined ? [] : [{ name: `the answer of ${name}`, ...answer }]),
    ]
  }),
)

describe('examples in the API reference', () => {
  it.each(examples)(
    'the example in the API reference is valid by its schema: $name',
    ({ schema, example }) => {
      const ajv = new Ajv2020({ strict: false, allErrors: true })
      ajv.validate(closeSchema(schema) as object, example)
      expect(ajv.errors).toBeNull()
    },
  )
})

const one = new Big('1')
const posting = { currency: 'USDT', type: 'DEPOSIT', amount: one, reference: 'r', balanceAfter: one } as const
const bill = putBill({ ...posting, id: { userId: 42, wallet: 'asset' }, number: 1, createdAt: 0 })
const token = { userId: 42, clientId: 'c', scopes: [], firstParty: true, expiresAt: 0, authenticatedAt: 0 }

/**
 * The pattern of every identifier and secret that the service generates, and a value that the service has
 * generated.
 */
const forms = {
  bill: { pattern: /^[AR]\d+-\d+$/, made: String(bill.Put?.Item?.['id']) },
  deposit: {
    pattern: /^[\w-]{43}$/,
    made: depositId({ network: 'TRON', txid: '9f8e7d', outputIndex: 0 }),
  },
  code: { pattern: /^[\w-]{43}$/, made: issueCode({} as never).code },
  login_ticket: { pattern: /^lt_16\.[\w-]{43}$/, made: newLoginTicket(42) },
  access_token: { pattern: /^at_16\.[\w-]{22}\.[\w-]{43}$/, made: issueAccessToken(token).accessToken },
} as const

/**
 * Returns which identifier or secret a property holds, or undefined if the service does not generate its
 * value.
 */
function formOf(name: string, value: unknown, owner: object): keyof typeof forms | undefined {
  if (typeof value !== 'string') return undefined
  if (name === 'id' && 'amount_direction' in owner) return 'bill'
  if (name === 'id' && 'txid' in owner) return 'deposit'
  return name === 'code' || name === 'login_ticket' || name === 'access_token' ? name : undefined
}

function* membersOf(value: unknown): Generator<{ form: keyof typeof forms; value: unknown }> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const form = formOf(name, member, value)
    if (form !== undefined) yield { form, value: member }
    yield* membersOf(member)
  }
}

describe.each(Object.entries(forms))('%s in the examples of the API reference', (form, { pattern, made }) => {
  it(`${form} in the API reference’s examples has the form of the values that the service makes`, () => {
    const shown = examples
      .flatMap(({ example }) => [...membersOf(example)])
      .filter((one) => one.form === form)
    expect(shown.length).toBeGreaterThan(0)
    expect(made).toMatch(pattern)
    for (const { value } of shown) expect(value).toMatch(pattern)
  })
})
