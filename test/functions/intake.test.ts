import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { loadIntakes } from '../../infra/openapi/event-schemas.ts'

const minute = 60_000

/** The fields of a detail that are instants, by their names. */
const instants = Object.entries({
  'user.registered': ['registered_at'],
  'user.updated': ['at'],
  'client.registered': ['updated_at'],
  'wallet.adjusted': ['at'],
  'wallet.transferred': ['at'],
  'withdrawal.updated': ['at'],
  'rates.published': ['as_of'],
  'package.purchased': ['at'],
  'device.activated': ['at'],
  'device.deactivated': ['at'],
  'traffic.reported': ['at'],
  'address.assigned': ['at'],
  'deposit.updated': ['at'],
}).flatMap(([detailType, fields]) => fields.map((field) => [detailType, field] as const))

/** The reasons for which an event's schema refuses one of its fields, whatever its other fields are. */
async function refusals(detailType: string, detail: Record<string, unknown>, field: string) {
  const handler = (await loadIntakes()).find((intake) => intake.detailType === detailType)
  const { issues = [] } = v.safeParse(handler?.detail ?? v.never(), detail)
  return issues.filter((issue) => v.getDotPath(issue) === field).map(({ message }) => message)
}

describe('an instant ahead of the service’s clock', () => {
  it.each(instants)('%s with %s more than five minutes ahead is refused', async (detailType, field) => {
    for (const at of [Date.now() + 6 * minute, 8.64e15])
      expect(await refusals(detailType, { [field]: at }, field)).toEqual([
        'must be at most five minutes ahead of the clock of this service',
      ])
    for (const at of [0, Date.now(), Date.now() + 4 * minute])
      expect(await refusals(detailType, { [field]: at }, field)).toEqual([])
  })

  it('an event has an instant that this test does not know', async () => {
    const known = new Set(instants.map((names) => names.join()))
    for (const { detailType, detail } of await loadIntakes()) {
      const names = Object.keys((detail as { entries?: object }).entries ?? {})
      // The expiry of a mail has a test of its own.
      for (const name of names.filter((text) => /(^|_)(at|as_of)$/.test(text) && text !== 'expires_at'))
        expect(known, detailType).toContain(`${detailType},${name}`)
    }
  })
})

describe('the expiry of a requested mail', () => {
  it.each([
    ['mail.requested', 'code', 15 * minute],
    ['mail.requested', 'wrong_codes', 65 * minute],
    ['mail.delayed', 'code', 15 * minute],
  ])('a %s of kind %s cannot expire later than what sends it asks for', async (detailType, kind, latest) => {
    const refused = (ahead: number) =>
      refusals(detailType, { kind, expires_at: Date.now() + ahead }, 'expires_at')
    expect(await refused(latest - minute)).toEqual([])
    expect(await refused(latest + minute)).toEqual(['must not be later than a mail of its kind expires'])
  })
})
