import { undoAdditions } from '../../../shared/db/exact-sum.ts'
import type { Partition } from '../../../shared/db/partitions.ts'
import type { Item } from '../../../shared/db/table.ts'
import type { Change } from '../../../shared/db/write.ts'
import { isPurchaseSince } from '../../../shared/community/tree-journal.ts'
import { undoDevice } from '../../../shared/dashboard/record-events.ts'
import { undoDeposits } from '../../../shared/deposits/undo-deposits.ts'
import { type Holds, undoWallet } from '../../../shared/ledger/undo-wallets.ts'
import { type WalletId, walletIdOf, walletPath } from '../../../shared/ledger/wallet.ts'
import { holdOf, undoWithdrawal } from '../../../shared/ledger/withdrawal.ts'
import { isUndone } from './undone-events.ts'

/**
 * Decides the changes that take the ledger, deposits, withdrawals, purchases and the dashboard back to an
 * instant (epoch milliseconds), given everything that was written since then.
 *
 * Nothing is completed but deposits that only advanced: what is missing of a torn transaction, only its event
 * knows. So all transactions since the instant are removed, torn or whole: the bills of a wallet are numbered
 * without gaps, so that a whole transaction cannot stay after a torn one. Their events apply them again.
 */
export async function planMend(found: ReadonlyMap<Partition, Item[]>, since: number): Promise<Change[]> {
  const of = (partition: Partition) => found.get(partition) ?? []
  const records = of('EVT#').filter(isUndone)
  const entries = of('TREE#').filter((item) => isPurchaseSince(item, since))
  const withdrawals = of('WD#').map((before) => ({ before, after: undoWithdrawal(before, since) }))
  const holds = Map.groupBy(
    withdrawals.flatMap(({ after }) => (after && holdOf(after)) ?? []),
    ({ userId }) => userId,
  )
  const changedWallets = [
    ...[...of('BL#'), ...of('W#')].map(walletIdOf),
    ...withdrawals
      .filter(({ before, after }) => before !== after)
      .map(({ before }) => ({ userId: Number(before['user_id']), wallet: 'asset' as const })),
  ]
  const sums = [...of('EARN#'), ...of('MEMBER#')].map((before) => ({
    before,
    after: withoutEmptySums(undoAdditions(before, since)),
  }))
  const devices = of('DEVICE#').map((before) => ({ before, after: undoDevice(before, since) }))
  return [
    ...[...records, ...of('BL#'), ...entries].map((before) => ({ before, after: undefined })),
    ...[...withdrawals, ...sums, ...devices].filter(({ before, after }) => before !== after),
    ...(await undoWallets(changedWallets, holds, since)),
    ...(await undoDeposits([...of('DEP#'), ...of('DL#')], since)),
  ]
}

async function undoWallets(
  ids: readonly WalletId[],
  holds: ReadonlyMap<number, Holds>,
  since: number,
): Promise<Change[]> {
  const changes: Change[] = []
  for (const id of new Map(ids.map((each) => [walletPath(each), each])).values()) {
    const open = id.wallet === 'asset' ? (holds.get(id.userId) ?? []) : []
    changes.push(...(await undoWallet(id, open, since)))
  }
  return changes
}

/** The item; undefined if nothing but its keys and instants is left. */
const withoutEmptySums = (item: Item): Item | undefined =>
  Object.keys(item).every((name) => ['pk', 'sk', 'changed_at'].includes(name)) ? undefined : item
