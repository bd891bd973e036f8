import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { handler as depositUpdated } from '../../../functions/intake/deposit.updated.ts'
import { readDeposit, readRecordsPage, type RecordsQuery } from '../../../shared/deposits/deposit.ts'
import { claimAddress } from '../../../shared/deposits/user-address.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { deliver, deliverBatch, deliverLast, refusedAs } from '../../support/deliver.ts'
import { addDepositor, deposit, newPool, provision } from '../../support/deposits.ts'
import { addUser, holdingsOf, readAllBills } from '../../support/ledger.ts'

async function recordsOf(userId: number, query: Partial<RecordsQuery> = {}) {
  const whole = { current: 1, size: 20, ...query } as RecordsQuery
  return readRecordsPage(whole, userId)
}

const steps = [
  { status: 'pending', confirmations: 0 },
  { status: 'confirming', confirmations: 3 },
  { status: 'confirming', confirmations: 7 },
  { status: 'confirmed', confirmations: 12 },
]
it('a deposit is credited exactly once, whatever the order and number of its updates', async () => {
  const { userId, address } = await addDepositor()
  let credited = 0
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...steps, ...steps], { minLength: 8, maxLength: 8 }),
      fc.boolean(),
      async (order, together) => {
        const base = deposit(address)
        const updates = order.map((step) => ({ ...base, ...step }))
        if (together) await deliverBatch(depositUpdated, updates)
        else for (const update of updates) expect(await deliver(depositUpdated, update)).toBe('done')
        credited += 5
        expect(await holdingsOf(userId)).toEqual({ USDT: `${credited} 0 ${credited} 0` })
        const { records, total } = await recordsOf(userId, { size: 1 })
        expect(total).toBe(credited / 5)
        expect(records[0]).toMatchObject({ txid: base.txid, status: 'CREDITED', confirmations: 12 })
        expect(records[0]?.credited_at).toBeGreaterThanOrEqual(records[0]?.created_at ?? Infinity)
        expect(await readDeposit(records[0]?.id ?? '')).toMatchObject(records[0] ?? expect.unreachable())
      },
    ),
    { numRuns: 15 },
  )
  const bills = await readAllBills(userId, 'asset')
  expect(bills.length).toBe(15)
  expect(new Set(bills.map(({ business_id }) => business_id))).toEqual(new Set(['DEPOSIT']))
}, 60_000)

it.each([
  [['pending'], 'PENDING', {}],
  [['confirming', 'pending'], 'CONFIRMING', {}],
  [['pending', 'failed', 'confirming'], 'FAILED', {}],
])('a deposit with the updates %j in this order ends as %s', async (statuses, status, holdings) => {
  const { userId, address } = await addDepositor()
  const base = deposit(address)
  for (const each of statuses) expect(await deliver(depositUpdated, { ...base, status: each })).toBe('done')
  expect((await recordsOf(userId)).records).toMatchObject([{ status }])
  expect(await holdingsOf(userId)).toEqual(holdings)
})

it.each([
  ['failed', 'confirmed', 'FAILED', {}],
  ['confirmed', 'failed', 'CREDITED', { USDT: '5 0 5 0' }],
])(
  'a deposit that is %s stays so if it is %s later, which is refused',
  async (first, later, status, held) => {
    const { userId, address } = await addDepositor()
    const base = deposit(address)
    expect(await deliver(depositUpdated, { ...base, status: first, confirmations: 1 })).toBe('done')
    const before = await recordsOf(userId)
    const contradiction = { ...base, status: later, confirmations: 9 }
    expect(await deliver(depositUpdated, contradiction)).toEqual(refusedAs('contradicts_final_status'))
    expect(await recordsOf(userId)).toEqual(before)
    expect([before.records[0]?.status, await holdingsOf(userId)]).toEqual([status, held])
  },
)

it.each([
  [
    'later updates have more',
    [
      ['failed', 1],
      ['confirming', 9],
      ['failed', 5],
    ],
  ],
  [
    'an earlier update had more',
    [
      ['confirming', 9],
      ['failed', 1],
    ],
  ],
  [
    'that update comes late',
    [
      ['failed', 1],
      ['confirming', 9],
    ],
  ],
])('a failed deposit shows the confirmations with which it failed, even if %s', async (_what, updates) => {
  const { userId, address } = await addDepositor()
  const base = deposit(address)
  for (const [status, confirmations] of updates)
    expect(await deliver(depositUpdated, { ...base, status, confirmations })).toBe('done')
  expect((await recordsOf(userId)).records).toMatchObject([{ status: 'FAILED', confirmations: 1 }])
})

it('several outputs of one blockchain transaction are separate deposits', async () => {
  const { userId, address } = await addDepositor()
  const base = deposit(address)
  const updates = [0, 1, 2, 0, 1, 2].map((output_index) => ({ ...base, output_index }))
  expect(new Set(await deliverBatch(depositUpdated, updates))).toEqual(new Set(['done']))
  expect(await holdingsOf(userId)).toEqual({ USDT: '15 0 15 0' })
  expect((await recordsOf(userId)).total).toBe(3)
})

it.each([
  ['in order', (events: object[]) => events],
  ['in the opposite order', (events: object[]) => events.toReversed()],
])(
  'a deposit shows its output and the earliest instant of its events, if they come %s',
  async (_how, arrange) => {
    const { userId, address } = await addDepositor()
    const base = deposit(address, { output_index: 3 })
    const events = [
      { ...base, status: 'pending', confirmations: 0, at: 1_700_000_000_000 },
      { ...base, status: 'confirmed', at: 1_700_000_600_000 },
    ]
    for (const event of arrange(events)) expect(await deliver(depositUpdated, event)).toBe('done')
    expect((await recordsOf(userId)).records).toMatchObject([
      { output_index: 3, occurred_at: 1_700_000_000_000, status: 'CREDITED' },
    ])
    expect(await readAllBills(userId, 'asset')).toMatchObject([{ occurred_at: 1_700_000_600_000 }])
  },
)

const hex = 'ab'.repeat(32)
describe('a transaction whose txid comes in several spellings', () => {
  const first = `0x${hex.toUpperCase()}`
  async function report() {
    const { userId, address } = await addDepositor()
    for (const txid of [first, `0x${hex}`, hex.toUpperCase()])
      expect(await deliver(depositUpdated, deposit(address, { txid }))).toBe('done')
    return { userId, address }
  }

  it('is credited once', async () => {
    const { userId } = await report()
    expect(await holdingsOf(userId)).toEqual({ USDT: '5 0 5 0' })
  })

  it('is shown as it came first', async () => {
    const { userId, address } = await report()
    expect((await recordsOf(userId)).records).toMatchObject([{ txid: first }])
    const reference = `${address.currency_network}:${first}:0`
    expect(await readAllBills(userId, 'asset')).toMatchObject([{ reference }])
  })
})

it('a deposit to another spelling of an address and tag is shown with the provisioned one', async () => {
  const pool = newPool()
  const provisioned = { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', tag: '123' }
  await deliver(addressesProvisioned, provision(pool, 0, { addresses: [provisioned] }))
  const userId = await addUser()
  const address = await claimAddress(userId, pool)
  const base = deposit(address, { status: 'pending' })
  const other = { address: provisioned.address.toLowerCase(), tag: '00123' }
  expect(await deliver(depositUpdated, { ...base, ...other })).toBe('done')
  expect(await deliver(depositUpdated, { ...base, ...provisioned, status: 'confirmed' })).toBe('done')
  expect((await recordsOf(userId)).records).toMatchObject([{ ...provisioned, status: 'CREDITED' }])
})

it.each([
  ['another amount', { amount: '6' }, 'conflicting_content'],
  ['another currency', { currency: 'BTC' }, 'conflicting_content'],
  ['another address', { address: '0xother' }, 'conflicting_content'],
  ['an added tag', { tag: '7' }, 'conflicting_content'],
])('an update with %s for a known deposit is refused', async (_name, change, reason) => {
  const { userId, address } = await addDepositor()
  const base = deposit(address, { status: 'pending' })
  await deliver(depositUpdated, base)
  const delivery = await deliver(depositUpdated, { ...base, ...change, status: 'confirmed' })
  expect(delivery).toEqual(refusedAs(reason))
  expect((await recordsOf(userId)).records).toMatchObject([{ status: 'PENDING' }])
  expect(await holdingsOf(userId)).toEqual({})
})

it.each([
  ['to an address that is assigned to nobody', { address: '0xnobody' }, 'unknown_address'],
  ['with another tag', { tag: '7' }, 'unknown_address'],
  ['in another currency', { currency: 'BTC' }, 'wrong_currency'],
  ['of the amount zero', { amount: '0' }, 'invalid_detail: amount'],
  ['of a negative amount', { amount: '-1' }, 'invalid_detail: amount'],
  ['in an unknown status', { status: 'done' }, 'invalid_detail: status'],
  ['without an output index', { output_index: undefined }, 'invalid_detail: output_index'],
])('a deposit %s is refused', async (_name, change, reason) => {
  const { userId, address } = await addDepositor()
  const delivery = await deliverLast(depositUpdated, deposit(address, change))
  expect(delivery).toEqual(refusedAs(reason))
  expect((await recordsOf(userId)).total).toBe(0)
})

describe('the list of deposits', () => {
  let depositor: number
  let txids: string[]
  beforeAll(async () => {
    const { userId, address } = await addDepositor()
    depositor = userId
    txids = Array.from({ length: 5 }, (_, i) => `${userId}-${i}`)
    for (const txid of txids) await deliver(depositUpdated, deposit(address, { txid }))
  })

  it('has the newest first', async () => {
    expect((await recordsOf(depositor)).records.map(({ txid }) => txid)).toEqual(txids.toReversed())
  })

  it('can be filtered by currency', async () => {
    const { records } = await recordsOf(depositor, { currency: 'USDT', current: 2, size: 2 })
    expect(records).toEqual((await recordsOf(depositor)).records.slice(2, 4))
    expect((await recordsOf(depositor, { currency: 'BTC' })).total).toBe(0)
  })

  it('can be filtered by day', async () => {
    expect((await recordsOf(depositor, { beginTime: '2026-01-01', endTime: '2999-01-01' })).total).toBe(5)
    expect((await recordsOf(depositor, { endTime: '2026-01-01' })).total).toBe(0)
  })

  it('has no deposits of other users', async () => {
    expect((await recordsOf(await addUser())).total).toBe(0)
  })
})

it('if deposits are filtered by a period, every page has only deposits from that period', async () => {
  const { userId, address } = await addDepositor()
  for (const day of [1, 2, 3, 4, 5]) {
    vi.setSystemTime(`2026-03-0${day}T12:30:00Z`)
    await deliver(depositUpdated, deposit(address, { txid: `${userId}-${day}` }))
  }
  vi.useRealTimers()
  const period = { beginTime: '2026-03-02', endTime: '2026-03-04', size: 2 }
  const pages = await Promise.all([1, 2].map((current) => recordsOf(userId, { ...period, current })))
  expect(pages.map(({ records }) => records.map(({ txid }) => txid.at(-1)))).toEqual([['4', '3'], ['2']])
})

it.each([
  ['the same confirmations', { confirmations: 3 }, 'duplicate'],
  ['fewer confirmations', { confirmations: 2 }, 'overtaken'],
  ['an earlier status', { status: 'pending', confirmations: 0 }, 'overtaken'],
  ['more confirmations', { confirmations: 4 }, 'applied'],
])('an update of a confirming deposit with %s has its own outcome', async (_what, change, outcome) => {
  const base = deposit((await addDepositor()).address, { status: 'confirming', confirmations: 3 })
  expect(await applyEvent(depositUpdated, base)).toBe('applied')
  expect(await applyEvent(depositUpdated, { ...base, ...change })).toBe(outcome)
})
