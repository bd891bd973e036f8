import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { handler as walletAdjusted } from '../../../../functions/intake/wallet.adjusted.ts'
import { runOps } from '../../../../infra/ops/command-line.ts'
import { db, tableName, toNumberValue } from '../../../../shared/db/table.ts'
import { listName } from '../../../../shared/ledger/bill.ts'
import { Big } from '../../../../shared/money.ts'
import { deliver, interceptQueues } from '../../../support/deliver.ts'
import { addUser, adjustment } from '../../../support/ledger.ts'
import { useLocalStack } from '../../../support/local-stack.ts'

interface Report {
  wallets: number
  bills: number
  differences: { currency: string | null; what: string; expected: string; actual: string }[]
}

/** Runs `ledger verify` for one user, and returns its exit code and report. */
async function verify(userId: number): Promise<{ exitCode: number; report: Report }> {
  const { base_url: url } = await useLocalStack()
  const lines: string[] = []
  const terminal = {
    out: (text: string) => void lines.push(text),
    err: () => undefined,
    readInput: () => (async function* () {})(),
    interactive: false,
  }
  const line = ['--url', url, '--json', 'ledger', 'verify', '--user', String(userId)]
  const exitCode = await runOps(line, terminal)
  return { exitCode, report: JSON.parse(lines.join('\n')) as Report }
}

async function addWallet(): Promise<number> {
  const userId = await addUser()
  for (const amount of ['5', '2.5', '1']) await deliver(walletAdjusted, adjustment(userId, { amount }))
  return userId
}

/** Changes an attribute of an item directly in the table, as a tampered ledger would be. */
const falsify = (pk: string, sk: string, path: string, value: Big) =>
  db.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: { pk, sk },
      UpdateExpression: `SET ${path} = :value`,
      ExpressionAttributeValues: { ':value': toNumberValue(value) },
    }),
  )

describe('ledger verify', () => {
  beforeAll(interceptQueues)

  it('ledger verify reports no difference for a correct wallet, and exits 0', async () => {
    expect(await verify(await addWallet())).toEqual({
      exitCode: 0,
      report: { wallets: 1, bills: 3, differences: [] },
    })
  })

  it('ledger verify reports no wallet for a user without one', async () => {
    expect(await verify(await addUser())).toEqual({
      exitCode: 0,
      report: { wallets: 0, bills: 0, differences: [] },
    })
  })

  it('ledger verify reports a balance that differs from its bills, and exits 1', async () => {
    const userId = await addWallet()
    await falsify(`W#${userId}#asset`, 'HEAD', 'holdings.USDT.b', new Big('8.500000000000000001'))
    const { exitCode, report } = await verify(userId)
    expect(exitCode).toBe(1)
    expect(report.differences).toEqual([
      {
        userId,
        wallet: 'asset',
        currency: 'USDT',
        what: 'balance + hold',
        expected: '8.5',
        actual: '8.500000000000000001',
      },
    ])
  })

  it.each([
    ['amount', '9', ['balance_after', 'balance_after', 'balance + hold']],
    ['balance_after', '9', ['balance_after']],
  ])('ledger verify reports a bill whose %s was changed', async (attribute, value, expected) => {
    const userId = await addWallet()
    const list = listName({ userId, wallet: 'asset' }, {})
    await falsify(list, '000000000002', attribute, new Big(value))
    const { exitCode, report } = await verify(userId)
    expect(exitCode).toBe(1)
    expect(report.differences.map(({ what }) => what.replace(/ of bill .*/, ''))).toEqual(expected)
  })
})
