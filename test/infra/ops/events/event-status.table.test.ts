import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { handler as assignAddress } from '../../../../functions/intake/address.assigned.ts'
import { handler as provisionAddresses } from '../../../../functions/intake/addresses.provisioned.ts'
import { handler as updateDeposit } from '../../../../functions/intake/deposit.updated.ts'
import { handler as publishRates } from '../../../../functions/intake/rates.published.ts'
import { describeEvent } from '../../../../infra/ops/events/event-status.ts'
import { deliver, deliverLast } from '../../../support/deliver.ts'
import { addDepositor, assignment, deposit, newPool, provision } from '../../../support/deposits.ts'
import { addUser } from '../../../support/ledger.ts'

it.each([
  ['as it was sent', (key: string) => key],
  ['as the service writes it', (key: string) => key.replace('0x', '').toLowerCase()],
])('the events of a deposit are found by their key %s', async (_what, spell) => {
  const { address } = await addDepositor()
  const txid = `0x${randomBytes(32).toString('hex').toUpperCase()}`
  const detail = deposit(address, { txid })
  expect(await deliverLast(updateDeposit, { ...detail, address: 'nobody' })).not.toBe('done')
  const key = spell(`${address.currency_network}:${txid}:0`)
  const refusals = [{ reason: 'unknown_address' }]
  expect(await describeEvent('deposit.updated', key)).toMatchObject({ outcome: 'refused', refusals })
  expect(await deliver(updateDeposit, detail)).toBe('done')
  const subject = { status: 'CREDITED' }
  expect(await describeEvent('deposit.updated', key)).toMatchObject({ outcome: 'applied', subject, refusals })
})

it.each([
  ['as it was sent', (key: string) => `${key}:007`],
  ['as the service writes it', (key: string) => `${key.replace(/:.*/, (text) => text.toLowerCase())}:7`],
])(
  'an assignment of an address is found by its key %s, also after another was refused',
  async (_what, spell) => {
    const pool = newPool()
    const address = `0x${randomBytes(20).toString('hex').toUpperCase()}`
    await deliver(provisionAddresses, provision(pool, 1, { addresses: [{ address, tag: '7' }] }))
    const [userId, other] = [await addUser(), await addUser()]
    const assigned = { ...assignment(pool, address, userId, Date.now()), tag: '007' }
    expect(await deliver(assignAddress, assigned)).toBe('done')
    expect(await deliver(assignAddress, { ...assigned, user_id: other })).not.toBe('done')
    expect(await describeEvent('address.assigned', spell(`${pool.network}:${address}`))).toMatchObject({
      outcome: 'applied',
      user_id: userId,
      refusals: [{ reason: 'conflicting_content' }],
    })
  },
)

it('published rates are found by their key in lower case', async () => {
  const published = { quote: 'usdt', as_of: Date.now(), rates: {} }
  expect(await deliver(publishRates, published)).toBe('done')
  expect(await describeEvent('rates.published', `usdt#${published.as_of}`)).toHaveProperty('event_id')
})
