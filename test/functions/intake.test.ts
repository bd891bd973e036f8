import * as v from 'valibot'
import { expect, it, onTestFinished, vi } from 'vitest'
import { loadIntakes } from '../../infra/openapi/load-intakes.ts'
import { demoStages } from '../../infra/local/demo/demo-events.ts'
import { settings } from '../../shared/settings.ts'
import { fieldErrors } from '../../shared/parse-input.ts'
import { newRegistration } from '../support/sign-in.ts'

const minute = 60_000

const intakes = await loadIntakes()

/** Every event field that holds an instant, except the expiry of a mail, which has a test of its own. */
const instants = intakes.flatMap(({ detailType, detail }) =>
  Object.keys((detail as { entries?: object }).entries ?? {})
    .filter((name) => /(^|_)(at|as_of)$/.test(name) && name !== 'expires_at')
    .map((field) => [detailType, field] as const),
)

/** Checks an event against its schema. Returns the reasons why the schema refuses the given field. */
function refusals(detailType: string, detail: Record<string, unknown>, field: string) {
  const handler = intakes.find((intake) => intake.detailType === detailType)
  const { issues = [] } = v.safeParse(handler?.detail ?? v.never(), detail)
  return issues.filter((issue) => v.getDotPath(issue) === field).map(({ message }) => message)
}

it.each(instants)('%s is refused if its %s is more than five minutes in the future', (detailType, field) => {
  for (const at of [Date.now() + 6 * minute, 8.64e15])
    expect(refusals(detailType, { [field]: at }, field)).toEqual([
      'must be at most five minutes ahead of the clock of this service',
    ])
  for (const at of [1_000_000_000_000, Date.now(), Date.now() + 4 * minute])
    expect(refusals(detailType, { [field]: at }, field)).toEqual([])
})

it.each(instants)('%s is refused if its %s is in seconds', (detailType, field) => {
  for (const at of [0, 1_767_225_600, 999_999_999_999])
    expect(refusals(detailType, { [field]: at }, field)).toEqual([
      'must be in milliseconds, from 1000000000000 (the year 2001)',
    ])
})

it('a reward is refused if it was earned before 2000 or after tomorrow in the reporting time zone', () => {
  const { reportingTimeZone } = settings()
  onTestFinished(() => {
    Object.assign(settings(), { reportingTimeZone })
    vi.useRealTimers()
  })
  Object.assign(settings(), { reportingTimeZone: 'Asia/Tokyo' })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T16:00:00Z') })
  const refused = (earned_on: string) => refusals('reward.granted', { earned_on }, 'earned_on').length > 0
  expect(['2000-01-01', '2026-03-02', '2026-03-03'].filter(refused)).toEqual([])
  expect(['1999-12-31', '2026-03-04', '9999-12-31'].filter(refused)).toHaveLength(3)
})

it.each([
  ['mail.requested', 'code', 15 * minute],
  ['mail.requested', 'wrong_codes', 65 * minute],
  ['mail.delayed', 'code', 15 * minute],
])(
  'a %s event for a mail of kind %s is refused if the mail would expire later than this kind allows',
  (detailType, kind, latest) => {
    const refused = (ahead: number) =>
      refusals(detailType, { kind, expires_at: Date.now() + ahead }, 'expires_at')
    expect(refused(latest - minute)).toEqual([])
    expect(refused(latest + minute)).toEqual(['must not be later than a mail of its kind expires'])
  },
)

/** A valid detail of each event that others send. */
const demo = { firstStart: 1_700_000_000_000, quoteCurrency: 'USDT', rewardCurrency: 'USDT', poolSize: 1 }
const examples = new Map(
  demoStages(demo)
    .flat()
    .map(({ detailType, detail }) => [detailType, detail]),
)

/** Checks an event against its schema. Returns the reasons for a refusal as the dead letter has them. */
function explanations(detailType: string, detail: object): string[] {
  const handler = intakes.find((intake) => intake.detailType === detailType)
  const { issues = [] } = v.safeParse(handler?.detail ?? v.never(), detail)
  return fieldErrors(issues as v.BaseIssue<unknown>[], 'event').map(
    ({ field, reason }) => `${field} ${reason}`,
  )
}

it.each([...examples])(
  'a %s event with a misspelt member is refused by the name of the member',
  (type, detail) => {
    expect(explanations(type, detail)).toEqual([])
    const reason = 'referrerId is not a member of this event'
    expect(explanations(type, { ...detail, referrerId: 7 })).toEqual([reason])
  },
)

it.each([
  [
    'package.purchased',
    { payment: { wallet: 'asset', currency: 'USDT', amount: '1', fee: '1' } },
    'payment.fee',
  ],
  ['addresses.provisioned', { addresses: [{ address: 'a', memo: '7' }] }, 'addresses.0.memo'],
  ['user.registered', JSON.parse('{"__proto__": 7}') as object, '__proto__'],
  ['user.registered', { constructor: 7 }, 'constructor'],
])('a %s event with %j is refused by the path of the member', (type, change, member) => {
  const detail = Object.defineProperties({ ...examples.get(type) }, Object.getOwnPropertyDescriptors(change))
  expect(explanations(type, detail)).toEqual([`${member} is not a member of this event`])
})

it.each([{}, { nickname: null, disabled: null }])(
  'a user.updated event is refused if it updates nothing: %j',
  (fields) => {
    const update = { update_id: 'u', user_id: 1, at: Date.now(), ...fields }
    expect(explanations('user.updated', update)).toEqual(['detail must name a field to update'])
    expect(explanations('user.updated', { ...update, passkey: false })).toEqual([])
  },
)

it.each([
  ['email', 'nobody'],
  ['login_password', 'in plain text'],
  ['totp_secret', 'not base32!'],
  ['registered_at', '2026-01-01'],
  ['nickname', 7],
])('user.registered with a bad %s is refused without a quote of the bad value', (field, bad) => {
  const detail = newRegistration({ [field]: bad })
  const handler = intakes.find(({ detailType }) => detailType === 'user.registered')
  const { issues = [] } = v.safeParse(handler?.detail ?? v.never(), detail)
  const reasons = fieldErrors(issues as v.BaseIssue<unknown>[], 'event')
  expect(reasons.map((reason) => reason.field)).toEqual([field])
  expect(JSON.stringify(reasons)).not.toContain(String(bad))
})
