import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { handler as updateDeposit } from '../../../../functions/intake/deposit.updated.ts'
import { describeEvent } from '../../../../infra/ops/events/event-status.ts'
import { deliver, deliverLast } from '../../../support/deliver.ts'
import { addDepositor, deposit } from '../../../support/deposits.ts'

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
