import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { handler } from '../../../functions/withdrawal/get.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addUser, adjustment } from '../../support/ledger.ts'

const call = callAs(handler, 'account.read')
const at = 1_700_000_000_000

let owner: number

const get = (userId: number, id: string) => call(userId, { path: { id } })

/** Requests a withdrawal of 4 USDT of the owner, then applies the given changes to it. Returns its id. */
async function withdraw(...updates: object[]): Promise<string> {
  const id = randomUUID()
  const request = {
    withdrawal_id: id,
    user_id: owner,
    currency: 'USDT',
    amount: '4',
    status: 'requested',
    at,
  }
  for (const update of [{}, ...updates]) await applyEvent(withdrawalUpdated, { ...request, ...update })
  return id
}

beforeAll(async () => {
  owner = await addUser()
  await applyEvent(walletAdjusted, adjustment(owner, { amount: '100' }))
})

const instant = expect.any(Number) as number

it('withdrawal/get returns a requested withdrawal of the caller', async () => {
  const id = await withdraw()
  const { status, code, data } = await get(owner, id)
  expect([status, code]).toEqual([200, 0])
  expect(data).toEqual({
    ...{ id, currency: 'USDT', amount: 4, status: 'REQUESTED', created_at: instant, occurred_at: at },
    ...{ settled_at: null, settled_amount: null, fee: null },
  })
})

it('withdrawal/get returns what was settled and the fee, with all digits', async () => {
  const { data, text } = await get(owner, await withdraw({ status: 'settled', fee: '0.000000000000000001' }))
  expect(data).toMatchObject({ status: 'SETTLED', settled_at: instant })
  expect(text).toContain('"settled_amount":3.999999999999999999,"fee":0.000000000000000001')
})

it('withdrawal/get returns a cancelled withdrawal, of which nothing was settled', async () => {
  const { data } = await get(owner, await withdraw({ status: 'cancelled' }))
  expect(data).toMatchObject({ status: 'CANCELLED', settled_at: null, settled_amount: null, fee: null })
})

it('withdrawal/get answers another user’s withdrawal like an unknown one', async () => {
  expect(await get(await addUser(), await withdraw())).toMatchObject({ status: 404, code: 40401, data: null })
})

it.each(['', 'nothing-of-the-kind', ' \0', 'A'.repeat(201)])('withdrawal/get/%j is not found', async (id) => {
  expect(await get(owner, id)).toMatchObject({ status: 404, code: 40401, data: null })
})

it('withdrawal/get refuses a token without account.read', async () => {
  const path = { id: await withdraw() }
  expect(await call(owner, { path, scopes: scopesWithout('account.read') })).toMatchObject(scopeRefusal)
})
