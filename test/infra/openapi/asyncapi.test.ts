import { Parser } from '@asyncapi/parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { asyncApiDocument } from '../../../infra/openapi/asyncapi.ts'
import { loadIntakes } from '../../../infra/openapi/load-intakes.ts'
import { OutcomeDetail, outcomeType, outcomeTypes } from '../../../shared/events/outcome.ts'
import { rejectionReasons } from '../../../shared/events/rejected-event.ts'

const intakes = await loadIntakes()
const { document, diagnostics } = await new Parser().parse(JSON.stringify(await asyncApiDocument()))
const bus = document?.channels().get('bus')
const refusalsOf = (part: Pick<NonNullable<typeof bus>, 'extensions'> | undefined) =>
  part?.extensions().get('x-refusals')?.value<object>() ?? {}

it('the AsyncAPI parser accepts the document with every event and every reason for a refusal', () => {
  // The parser advises a later version than 3.0.0. The document keeps 3.0.0, because more tools can read it.
  expect(diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version')).toEqual([])
  const messages = document?.operations().get('takeEvents')?.messages().all() ?? []
  expect(messages.map((message) => message.id())).toEqual(intakes.map(({ detailType }) => detailType))
  expect(Object.assign({}, ...[bus, ...messages].map(refusalsOf))).toEqual(rejectionReasons)
})

it('the AsyncAPI document has the outcomes that senders are told, as what the service sends', () => {
  const told = document?.operations().get('tellOutcomes')
  expect(told?.action()).toBe('send')
  const messages = told?.messages().all() ?? []
  expect(messages.map((message) => message.id())).toEqual([...outcomeTypes])
  for (const message of messages) {
    const example = message.examples().all()[0]?.payload() as v.InferOutput<typeof OutcomeDetail>
    expect(v.parse(v.strictObject(OutcomeDetail.entries), example)).toEqual(example)
    expect(outcomeType(example)).toBe(message.id())
    const ajv = new Ajv2020({ strict: false, logger: false })
    expect(ajv.validate(message.payload()?.json() ?? false, example), ajv.errorsText()).toBe(true)
  }
})

/** Details of mail events. Only the service sends these, so the document has no example. */
const mail = { mail_id: 'mail-1', to: 'a@example.com', expires_at: 1_700_000_000_000, code: '123456' }
const mails: Record<string, object> = {
  'mail.requested': { ...mail, kind: 'code' },
  'mail.delayed': { ...mail, user_id: 1, ticket_hash: 'a' },
}

it.each(intakes.map((intake) => [intake.detailType, intake] as const))(
  'the AsyncAPI document describes the event %s: its schema, business key and reasons of refusal',
  (detailType, intake) => {
    const message = bus?.messages().get(detailType)
    const example = message?.examples().all()[0]?.payload() ?? mails[detailType]
    const ajv = new Ajv2020({ strict: false, logger: false })
    expect(ajv.validate(message?.payload()?.json() ?? false, example), ajv.errorsText()).toBe(true)
    const detail = v.parse(intake.detail, example) as Record<string, string | undefined>
    const template = message?.extensions().get('x-business-key')?.value<string>()
    const key = template?.replaceAll(/\{(\w+)\}/g, (_, name: string) => detail[name] ?? '')
    expect(key).toBe(intake.key(detail))
    expect(Object.keys(refusalsOf(message))).toEqual(intake.rejections)
  },
)

it.each([
  ['user.registered', 'nickname', { minLength: 1, maxLength: 100 }],
  ['user.registered', 'email', { maxLength: 254, pattern: '^[^@]+@[^@]+$' }],
  ['client.registered', 'name', { minLength: 1, maxLength: 200 }],
  ['wallet.adjusted', 'reason', { minLength: 1, maxLength: 500 }],
  ['reward.granted', 'reward_type', { minLength: 1, maxLength: 64, description: 'Compares byte by byte.' }],
])('the AsyncAPI document has the limits of the text %s %s', (detailType, name, limits) => {
  const { properties } = bus?.messages().get(detailType)?.payload()?.json() as { properties: object }
  expect(properties).toMatchObject({ [name]: { type: 'string', ...limits } })
})
