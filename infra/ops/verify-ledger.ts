import { rowKey } from '../../shared/db/numbered-list.ts'
import { depositId, readDeposit } from '../../shared/deposits/deposit.ts'
import { isRecorded } from '../../shared/events/event-record.ts'
import { forEachConcurrently } from '../../shared/for-each-concurrently.ts'
import type { Bill } from '../../shared/ledger/bill.ts'
import { pathOfPartition, toWalletId } from '../../shared/ledger/verify/slice.ts'
import { type Difference, verifyWallet } from '../../shared/ledger/verify/wallet.ts'
import { billTypes } from '../../shared/ledger/bill-types.ts'
import { type WalletId, WalletName } from '../../shared/ledger/wallet.ts'
import { startProgress } from './progress.ts'
import { scanVisibly } from './restore/scan-items.ts'
import type { Terminal } from './terminal.ts'

/** Lists the wallets of a user, or of all users. A wallet whose item is lost is found by its first bill. */
export async function findWallets(
  userId: number | undefined,
  terminal: Pick<Terminal, 'screen'> = {},
): Promise<WalletId[]> {
  if (userId !== undefined) return WalletName.options.map((wallet) => ({ userId, wallet }))
  const items = scanVisibly(terminal, {
    FilterExpression: 'begins_with(pk, :wallets) OR (begins_with(pk, :bills) AND sk = :first)',
    ExpressionAttributeValues: { ':wallets': 'W#', ':bills': 'BL#', ':first': rowKey('', 1).sk },
  })
  const paths = new Set<string>()
  for await (const { pk } of items) paths.add(pathOfPartition(pk))
  return [...paths].map(toWalletId)
}

/** Number of bills whose causes are looked up at the same time. */
const causesTogether = 100

/** Finds the bills that were caused neither by a recorded event nor by a credited deposit. */
async function findUncaused(bills: readonly Bill[]): Promise<Bill[]> {
  const caused = new Set<Bill>()
  await forEachConcurrently(bills, causesTogether, async (bill) => {
    if (await hasCause(bill)) caused.add(bill)
  })
  return bills.filter((bill) => !caused.has(bill))
}

async function hasCause({ business_id: type, reference }: Bill): Promise<boolean> {
  // No event is recorded for a deposit. Instead, the bill must belong to a deposit with the status CREDITED.
  if (type === 'DEPOSIT') {
    const [, network = '', txid = '', index] = /^([^:]*):(.*):(\d+)$/.exec(reference) ?? []
    const id = depositId({ network, txid, outputIndex: Number(index) })
    return (await readDeposit(id))?.status === 'CREDITED'
  }
  const { event: detailType } = billTypes[type]
  const businessKey = detailType === 'withdrawal.updated' ? `${reference}#settled` : reference
  return isRecorded({ detailType, businessKey })
}

const concurrency = 8

/** Recomputes each wallet from its bills, several wallets at a time. */
export async function verifyLedger(ids: WalletId[], terminal: Pick<Terminal, 'screen'>) {
  using progress = startProgress(terminal, 'verifying', 'wallets')
  const report = { wallets: 0, bills: 0, differences: [] as Difference[] }
  await forEachConcurrently(ids, concurrency, async (id) => {
    const { bills, differences } = await verifyWallet(id, findUncaused)
    report.wallets += 1
    report.bills += bills
    report.differences.push(...differences)
    progress.show(report.wallets, ids.length)
  })
  return report
}
