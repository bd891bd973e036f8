import { randomInt } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { handler } from '../../../functions/intake/rates.published.ts'
import { rateOf, readRates, readRecentRates } from '../../../shared/rates/rates.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { deliver, refusedAs } from '../../support/deliver.ts'

// Uses its own quote currency, because another test's rates in the same currency would replace these rates.
const quote = `Q${randomInt(2 ** 40)}`
process.env['QUOTE_CURRENCY'] = quote
let last = Date.now() - 600_000
const rateAt = async (currency: string) => rateOf(await readRates(), currency)

const publication = (rates: Record<string, string>, asOf = (last += 1_000)) => ({ quote, as_of: asOf, rates })

test('a published rate keeps every digit', async () => {
  const rates = { BTC: '99999999999999999999.000000000000000001', ETH: '0.000000000000000001' }
  const published = publication(rates)
  expect(await deliver(handler, published)).toBe('done')
  expect((await readRates()).asOf).toBe(published.as_of)
  expect((await rateAt('BTC'))?.toFixed()).toBe(rates.BTC)
  expect((await rateAt('ETH'))?.toFixed()).toBe(rates.ETH)
})

test('the rate of the quote currency is 1, whatever is published', async () => {
  expect(await deliver(handler, publication({ [quote]: '2' }))).toBe('done')
  expect((await rateAt(quote))?.toFixed()).toBe('1')
})

test('a currency may be called like a member that every object has', async () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString']
  const rates = JSON.parse(`{${names.map((name) => `"${name}":"7"`).join()},"BTC":"1"}`) as Record<
    string,
    string
  >
  expect(await deliver(handler, publication(rates))).toBe('done')
  for (const name of names) expect((await rateAt(name.toUpperCase()))?.toFixed(), name).toBe('7')
  expect(await rateAt('BTC')).toBeDefined()
})

describe('after a publication', () => {
  const publishTwo = async () => {
    const [earlier, later] = [publication({ BTC: '1', ETH: '2' }), publication({ BTC: '3' })]
    for (const published of [later, earlier, later, earlier])
      expect(await deliver(handler, published)).toBe('done')
    return earlier
  }

  test('its rates stand, whatever earlier ones come later', async () => {
    await publishTwo()
    expect((await rateAt('BTC'))?.toFixed()).toBe('3')
    expect(await rateAt('ETH')).toBeUndefined()
  })

  test('one with the instant of another and other rates is refused', async () => {
    const { as_of } = await publishTwo()
    expect(await deliver(handler, publication({ BTC: '10' }, as_of))).toEqual(
      refusedAs('conflicting_content'),
    )
    expect((await rateAt('BTC'))?.toFixed()).toBe('3')
  })
})

test('a publication that a later one has overtaken has an outcome of its own', async () => {
  const [earlier, later] = [publication({ BTC: '1' }), publication({ BTC: '3' })]
  expect(await applyEvent(handler, later)).toBe('applied')
  expect([await applyEvent(handler, earlier), await applyEvent(handler, earlier)]).toEqual([
    'overtaken',
    'duplicate',
  ])
})

test('for up to a second, a busy process makes estimates with the rates that it has already read', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  for (const [rate, milliseconds, seen] of [
    ['4', 0, '4'],
    ['5', 999, '4'],
    ['5', 1, '5'],
  ] as const) {
    await deliver(handler, publication({ BTC: rate }))
    vi.setSystemTime(Date.now() + milliseconds)
    for (let i = 0; i < 11; i += 1) expect(rateOf(await readRecentRates(), 'BTC')?.toFixed()).toBe(seen)
  }
})

test('a publication of rates is refused if its quote currency differs from that of the deployment', async () => {
  expect(await deliver(handler, { ...publication({ BTC: '7' }), quote: 'OTHER' })).toEqual(
    refusedAs('unknown_quote'),
  )
})

test.each<object>([
  { BTC: '0' },
  { BTC: '-1' },
  { BTC: '1e5' },
  { BTC: 'NaN' },
  { BTC: '1,000' },
  { BTC: 1 },
  { BTC: '1', btc: '2' },
  { constructor: 'junk' },
  ['1'],
  { BTC: `1${'0'.repeat(20)}` },
])('rates.published refuses the invalid rates %j', async (rates) => {
  const before = await readRates()
  expect(await deliver(handler, publication(rates as never))).toEqual(refusedAs('invalid_detail: rates'))
  expect(await readRates()).toEqual(before)
})

describe('rates of a clock that is ahead', () => {
  const publishAhead = async () => {
    const ahead = publication({ BTC: '8' }, Date.now() + 240_000)
    expect(await deliver(handler, ahead)).toBe('done')
    return ahead
  }

  test('are shown with their own instant', async () => {
    const { as_of } = await publishAhead()
    expect((await readRates()).asOf).toBe(as_of)
  })

  test('do not hide those that come after them', async () => {
    await publishAhead()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1_000 })
    expect(await deliver(handler, publication({ BTC: '9' }, Date.now()))).toBe('done')
    vi.useRealTimers()
    expect((await rateAt('BTC'))?.toFixed()).toBe('9')
  })
})
