import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { handler as depositUpdated } from '../../functions/intake/deposit.updated.ts'
import { handler as addressAssigned } from '../../functions/intake/address.assigned.ts'
import { handler as addressesProvisioned } from '../../functions/intake/addresses.provisioned.ts'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { depositId, readDeposit } from '../../shared/deposits/deposit.ts'
import { deliver, deliverReplayed, refusedAs } from '../support/deliver.ts'
import { addDepositor, assignment, deposit, newPool, provision } from '../support/deposits.ts'
import { addUser, adjustment, readAllBills } from '../support/ledger.ts'
const day = 86_400_000
const iso = (instant: number) => new Date(instant).toISOString()

/** Booking times of a user's bills, oldest first. */
const bookings = async (userId: number) =>
  (await readAllBills(userId, 'asset')).map(({ created_at: at }) => at).toSorted((a, b) => a - b)

const storedDeposit = async (detail: ReturnType<typeof deposit>) => {
  const { currency_network: network, txid, output_index: outputIndex } = detail
  return readDeposit(depositId({ network, txid, outputIndex }))
}

describe('an event that a replay sends again', () => {
  it('a replayed event is booked at the time at which it was first sent', async () => {
    const userId = await addUser()
    const sentAt = Math.floor(Date.now() / 1000) * 1000 - 3 * day
    await deliverReplayed(walletAdjusted, adjustment(userId), iso(sentAt))
    await deliverReplayed(walletAdjusted, adjustment(userId), iso(sentAt + day))
    expect(await bookings(userId)).toEqual([sentAt, sentAt + day])
  })

  it('a replayed event is booked no earlier than the latest bill of its wallet', async () => {
    const userId = await addUser()
    const sentAt = Date.now() - day
    await deliverReplayed(walletAdjusted, adjustment(userId), iso(sentAt))
    await deliverReplayed(walletAdjusted, adjustment(userId), iso(sentAt - day))
    expect(await bookings(userId)).toEqual([sentAt, sentAt])
  })

  it.each([
    ['tomorrow', () => iso(Date.now() + day)],
    ['no time', () => 'no time'],
  ])('a replayed event that states %s is booked now', async (_what, time) => {
    const userId = await addUser()
    const before = Date.now()
    await deliverReplayed(walletAdjusted, adjustment(userId), time())
    const [at, ...others] = await bookings(userId)
    expect(others).toEqual([])
    expect(at).toBeGreaterThanOrEqual(before)
    expect(at).toBeLessThanOrEqual(Date.now())
  })

  it.each([
    ['`pending`, then `confirmed`', 1000, 1000],
    ['`confirmed`, then `pending`', -1000, 0],
  ])(
    'a replayed deposit gets its events’ original times, but is never credited before it was created: %s',
    async (_, later, credited) => {
      const { address } = await addDepositor()
      const detail = deposit(address, { status: 'pending' })
      const sentAt = Date.now() - day
      await deliverReplayed(depositUpdated, detail, iso(sentAt))
      await deliverReplayed(depositUpdated, { ...detail, status: 'confirmed' }, iso(sentAt + later))
      expect(await storedDeposit(detail)).toMatchObject({
        status: 'CREDITED',
        created_at: sentAt,
        credited_at: sentAt + credited,
      })
    },
  )

  describe('a replayed event that has already taken effect', () => {
    it.each([
      ['changes nothing', {}, 'done'],
      ['is refused if its content differs', { amount: '7' }, refusedAs('conflicting_content')],
    ])('%s', async (_what, change, result) => {
      const userId = await addUser()
      const detail = adjustment(userId)
      await deliver(walletAdjusted, detail)
      const once = await bookings(userId)
      const time = iso(Date.now() - day)
      expect(await deliverReplayed(walletAdjusted, { ...detail, ...change }, time)).toEqual(result)
      expect(await bookings(userId)).toEqual(once)
    })
  })

  it('a replayed event can take effect under the same id even if it was refused the first time', async () => {
    const pool = newPool()
    const batch = provision(pool, 1)
    await deliver(addressesProvisioned, batch)
    const address = batch.addresses[0]?.address ?? ''
    const told = { currency_network: pool.network, currency: pool.currency, address }
    const detail = deposit({ ...told, tag: null, required_confirmations: 12, created_at: 0 })
    const [id, time] = [randomUUID(), iso(Date.now() - day)]
    const refused = refusedAs('unknown_address')
    expect(await deliverReplayed(depositUpdated, detail, time, id)).toEqual(refused)
    await deliver(addressAssigned, assignment(pool, address, await addUser(), Date.now()))
    expect(await deliverReplayed(depositUpdated, detail, iso(Date.now()), id)).toBe('done')
    expect(await storedDeposit(detail)).toMatchObject({ status: 'CREDITED' })
  })
})
