import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import { handler as depositUpdated } from '../../../../functions/intake/deposit.updated.ts'
import { handler as walletAdjusted } from '../../../../functions/intake/wallet.adjusted.ts'
import type { verifyLedger } from '../../../../infra/ops/verify-ledger.ts'
import { toNumberValue } from '../../../../shared/db/decimal.ts'
import { readItem } from '../../../../shared/db/read.ts'
import { db, tableName } from '../../../../shared/db/table.ts'
import { transact, writeItem } from '../../../../shared/db/write.ts'
import { depositId, putDeposit, readDeposit } from '../../../../shared/deposits/deposit.ts'
import { billList } from '../../../../shared/ledger/bill.ts'
import { Big } from '../../../../shared/money.ts'
import { deliver } from '../../../support/deliver.ts'
import { addDepositor, deposit } from '../../../support/deposits.ts'
import { addUser, adjustment } from '../../../support/ledger.ts'
import { sectionOf } from '../../runbook/read-runbook.ts'
import { ops } from '../run-ops.ts'

type Report = Awaited<ReturnType<typeof verifyLedger>>

async function verify(userId: number): Promise<{ exitCode: number; report: Report }> {
  const { code, out } = await ops(['ledger', 'verify', '--user', String(userId), '--json'])
  return { exitCode: code, report: JSON.parse(out) as Report }
}

async function addWallet(): Promise<number> {
  const userId = await addUser()
  for (const amount of ['5', '2.5', '1']) await deliver(walletAdjusted, adjustment(userId, { amount }))
  return userId
}

const falsify = (pk: string, sk: string, path: string, value: Big) =>
  writeItem({
    Update: {
      Key: { pk, sk },
      UpdateExpression: `SET ${path} = :value`,
      ExpressionAttributeValues: { ':value': toNumberValue(value) },
    },
  })

it.each([
  ['a user with a correct wallet', addWallet, { wallets: 2, bills: 3 }],
  ['a user without a wallet', addUser, { wallets: 2, bills: 0 }],
])('`ledger verify` reports no difference for %s, and exits 0', async (_user, add, counts) => {
  expect(await verify(await add())).toEqual({ exitCode: 0, report: { ...counts, differences: [] } })
})

it('`ledger verify` fails for a user whom nobody registered, such as a mistyped id', async () => {
  const userId = (await addUser()) + 1_000_000_000
  expect(await ops(['ledger', 'verify', '--user', String(userId)])).toEqual({
    code: 1,
    out: '',
    err: `there is no user ${userId}`,
  })
})

it('a balance that `ledger verify` reports can be corrected by the runbook’s example', async () => {
  const userId = await addWallet()
  await falsify(`W#${userId}#asset`, 'HEAD', 'holdings.USDT[1]', new Big('8.500000000000000001'))
  const { exitCode, report } = await verify(userId)
  expect(exitCode).toBe(1)
  const balance = { userId, wallet: 'asset', currency: 'USDT', what: 'balance + hold' }
  expect(report.differences).toEqual([{ ...balance, expected: '8.5', actual: '8.500000000000000001' }])
  const [, example = ''] = /```([^]+?)```/.exec(sectionOf('ledger-difference')) ?? []
  const update = example.replace('1001', String(userId)).replace('TABLE', tableName())
  await db.send(new UpdateItemCommand(JSON.parse(update) as UpdateItemCommandInput))
  expect(await verify(userId)).toMatchObject({ exitCode: 0, report: { differences: [] } })
})

it.each([
  ['amount', '9', ['balance_after', 'balance_after', 'balance + hold']],
  ['balance_after', '9', ['balance_after']],
])('`ledger verify` reports a bill whose %s was changed', async (attribute, value, expected) => {
  const userId = await addWallet()
  const list = billList({ userId, wallet: 'asset' })
  await falsify(list, '000000000002', attribute, new Big(value))
  const { exitCode, report } = await verify(userId)
  expect(exitCode).toBe(1)
  expect(report.differences.map(({ what }) => what.replace(/ of bill .*| A\d.*/, ''))).toEqual(expected)
})

it.each<[string, (userId: number) => { pk: string; sk: string }[], number]>([
  ['a bill', (userId) => [{ pk: billList({ userId, wallet: 'asset' }), sk: '000000000002' }], 8],
  ['the record of an event', (userId) => [{ pk: `EVT#wallet.adjusted#${userId}-2`, sk: 'EVT' }], 1],
  ['a wallet that a later bill has raised', (userId) => [{ pk: `W#${userId}#asset`, sk: 'HEAD' }], 1],
])('`ledger verify` reports that %s is missing', async (_, missing, differences) => {
  const userId = await addWallet()
  const wallet = await readItem({ pk: `W#${userId}#asset`, sk: 'HEAD' }, { consistent: true })
  await deliver(walletAdjusted, adjustment(userId, { adjustment_id: `${userId}-2` }))
  for (const key of missing(userId))
    await writeItem(key.sk === 'HEAD' ? { Put: { Item: wallet ?? {} } } : { Delete: { Key: key } })
  const { exitCode, report } = await verify(userId)
  expect(exitCode).toBe(1)
  expect(report.differences.map(({ what }) => what)).toHaveLength(differences)
})

it('`ledger verify` reports a bill whose deposit is still pending', async () => {
  const { userId, address } = await addDepositor()
  const { currency_network: network, txid, ...rest } = deposit(address)
  await deliver(depositUpdated, { currency_network: network, txid, ...rest })
  expect(await verify(userId)).toMatchObject({ exitCode: 0 })
  const stored = await readDeposit(depositId({ network, txid, outputIndex: 0 }))
  await transact(putDeposit({ ...(stored ?? expect.unreachable()), status: 'PENDING', version: 2 }))
  const differences = [{ what: expect.stringContaining('cause of bill') as string, actual: 'none' }]
  expect(await verify(userId)).toMatchObject({ exitCode: 1, report: { differences } })
})
