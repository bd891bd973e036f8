import { randomInt } from 'node:crypto'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/intake/rates.published.ts'
import { rateOf, readRecentRates } from '../../../shared/rates/rates.ts'
import { deliver, interceptQueues } from '../../support/deliver.ts'
import { measureCalls } from '../../support/measure-calls.ts'

// No other test uses this quote currency. The table keeps one publication of rates for each quote currency.
const quote = `Q${randomInt(2 ** 40)}`
process.env['QUOTE_CURRENCY'] = quote

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  interceptQueues()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const publish = (BTC: string) => deliver(handler, { quote, as_of: Date.now(), rates: { BTC } })
const rate = async () => rateOf(await readRecentRates(), 'BTC')?.toFixed()

async function ask(times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await readRecentRates()
}

it('rates are read for each estimate until they are in great demand, and then once a second', async () => {
  expect((await measureCalls(() => ask(20))).names).toEqual(Array(20).fill('GetItem'))
  expect(await publish('1')).toBe('done')
  expect(await rate()).toBe('1')
  vi.setSystemTime(Date.now() + 10_000)
  expect((await measureCalls(() => ask(300))).names).toEqual(Array(10).fill('GetItem'))
  vi.setSystemTime(Date.now() + 500)
  expect(await publish('2')).toBe('done')
  expect((await measureCalls(() => ask(300))).names).toEqual([])
  vi.setSystemTime(Date.now() + 500)
  expect((await measureCalls(() => ask(300))).names).toEqual(['GetItem'])
  expect(await rate()).toBe('2')
})
