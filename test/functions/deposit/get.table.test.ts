import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/deposit/get.ts'
import { handler as depositUpdated } from '../../../functions/intake/deposit.updated.ts'
import { depositId } from '../../../shared/deposits/deposit.ts'
import type { UserAddress } from '../../../shared/deposits/user-address.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addDepositor, deposit } from '../../support/deposits.ts'
import { addUser } from '../../support/ledger.ts'

const call = callAs(handler, 'deposit.read')

let owner: number
let address: UserAddress
let id: string

const get = (userId: number, one: string) => call(userId, { path: { id: one } })

beforeAll(async () => {
  ;({ userId: owner, address } = await addDepositor())
  const detail = deposit(address, {
    txid: `0x${'AB'.repeat(32)}`,
    output_index: 3,
    amount: '7.000000000000000001',
  })
  await applyEvent(depositUpdated, detail)
  id = depositId({ network: address.currency_network, txid: 'ab'.repeat(32), outputIndex: 3 })
})

it('deposit/get returns a deposit of the caller, with all digits', async () => {
  const { status, code, data, text } = await get(owner, id)
  expect([status, code]).toEqual([200, 0])
  const instant = expect.any(Number) as number
  expect(data).toEqual({
    ...{ id, currency: 'USDT', currency_network: address.currency_network, amount: 7 },
    ...{ address: address.address, tag: null, txid: `0x${'AB'.repeat(32)}`, output_index: 3 },
    ...{ confirmations: 12, required_confirmations: 12, status: 'CREDITED' },
    ...{ created_at: instant, occurred_at: 1_700_000_000_000, credited_at: instant },
  })
  expect(text).toContain('"amount":7.000000000000000001,')
})

it('deposit/get returns a deposit that is not credited yet', async () => {
  const pending = deposit(address, { status: 'pending', confirmations: 0 })
  await applyEvent(depositUpdated, pending)
  const name = { network: pending.currency_network, txid: pending.txid, outputIndex: 0 }
  const { data } = await get(owner, depositId(name))
  expect(data).toMatchObject({ status: 'PENDING', confirmations: 0, credited_at: null })
})

it('deposit/get answers another user’s deposit like an unknown one', async () => {
  expect(await get(await addUser(), id)).toMatchObject({ status: 404, code: 40401, data: null })
})

it.each(['', 'nothing-of-the-kind', 'A'.repeat(43), `${'A'.repeat(43)}\n`, '%00'])(
  'deposit/get/%j is not found',
  async (unknown) => {
    expect(await get(owner, unknown)).toMatchObject({ status: 404, code: 40401, data: null })
  },
)

it('deposit/get refuses a token without deposit.read', async () => {
  const scopes = scopesWithout('deposit.read')
  expect(await call(owner, { path: { id }, scopes })).toMatchObject(scopeRefusal)
})
