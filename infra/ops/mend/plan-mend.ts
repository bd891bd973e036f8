import * as v from 'valibot'
import { undoDevice } from '../../../shared/dashboard/record-events.ts'
import { undoAdditions } from '../../../shared/db/exact-sum.ts'
import { keyText } from '../../../shared/db/read.ts'
import type { Partition } from '../../../shared/db/partitions.ts'
import { Integer, type Item } from '../../../shared/db/table.ts'
import type { Change } from '../../../shared/db/write.ts'
import { undoAssignments } from '../../../shared/deposits/undo-assignments.ts'
import { undoDeposits } from '../../../shared/deposits/undo-deposits.ts'
import { undoTransitions } from '../../../shared/keys/undo-transitions.ts'
import { type Holds, undoWallet } from '../../../shared/ledger/undo-wallets.ts'
import { type WalletId, walletIdOf, walletPath } from '../../../shared/ledger/wallet.ts'
import { holdOf, undoWithdrawal } from '../../../shared/ledger/withdrawal.ts'
import { registeredUser, undoRegistrations } from '../../../shared/registration/undo-registrations.ts'
import { repairEmailOwners } from '../../../shared/users/repair-email-owners.ts'
import { isUndone } from './undone-events.ts'

type Found = ReadonlyMap<Partition, Item[]>

/**
 * Decides the changes after which the events since an instant (epoch milliseconds) can be applied again, each
 * exactly once, given everything that was written since then, and what planRepairs needs.
 *
 * Nothing is completed but deposits that only advanced: what is missing of a torn transaction, only its event
 * knows. So all transactions of the ledger since the instant are removed, torn or whole: the bills of a
 * wallet are numbered without gaps, so that a whole transaction cannot stay after a torn one.
 */
export async function planMend(found: Found, since: number): Promise<Change[]> {
  const ledger = await planLedger(found, since)
  const undone = new Map(ledger.map(({ before, after }) => [before, after]))
  const profiles = (found.get('MEMBER#') ?? []).map((item) => undone.get(item) ?? item)
  return merge([...ledger, ...(await planRepairs(new Map(found).set('MEMBER#', profiles), since))])
}

/** Takes the ledger, deposits, withdrawals, purchases, the dashboard, and records of events back. */
async function planLedger(found: Found, since: number): Promise<Change[]> {
  const of = (partition: Partition) => found.get(partition) ?? []
  const records = of('EVT#').filter(isUndone)
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
    // A restored table may name a message about a tree that is in no queue, and SQS would drop the next one.
    ...[...records, ...of('BL#'), ...of('WAKE#')].map((before) => ({ before, after: undefined })),
    ...[...withdrawals, ...sums, ...devices].filter(({ before, after }) => before !== after),
    ...(await undoWallets(changedWallets, holds, since)),
    ...(await undoDeposits([...of('DEP#'), ...of('DL#')], since)),
  ]
}

/**
 * Decides the changes after which everything else is whole: registrations, reserved email addresses, deposit
 * addresses and the evidence of signing keys. On a table that is whole there are none, but
 * for trees whose journal is not worked off: those are finished.
 */
export async function planRepairs(found: Found, since: number): Promise<Change[]> {
  const of = (partition: Partition) => found.get(partition) ?? []
  const candidates = [
    ...of('EVT#'),
    ...of('USER#'),
    ...of('SIGNIN#'),
    ...of('MEMBER#').filter(isSince(since)),
  ]
  const { removed, changes } = await undoRegistrations(
    new Set(candidates.flatMap((item) => registeredUser(item) ?? [])),
    of('MEMBER#'),
    since,
  )
  const stays = (item: Item) => !removed.has(Number(item['user_id']))
  const profiles = of('MEMBER#').filter(stays)
  // What is known of a user's address, the user's own item last.
  const users = [...profiles, ...of('USER#').filter(stays)]
  return [
    ...(await repairEmailOwners(
      of('EMAIL#'),
      new Map(users.map(({ user_id, email }) => [Number(user_id), String(email)])),
      removed,
    )),
    ...(await undoAssignments({ addresses: of('ADDR#'), userAddresses: of('ADDRS#'), pools: of('POOL#') })),
    ...undoTransitions(of('KEYS')),
    ...changes,
  ]
}

const isSince = (since: number) => (item: Item) =>
  (v.parse(v.nullish(Integer), item['created_at']) ?? 0) >= since

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

/** Makes one change of the changes of each item: from how the first found it to how the last left it. */
function merge(changes: readonly Change[]): Change[] {
  const byItem = Map.groupBy(changes, ({ before, after }) => keyText(before ?? after ?? {}))
  return [...byItem.values()].flatMap((steps) => {
    const [first, last] = [steps[0], steps.at(-1)]
    return first === undefined || last === undefined ? [] : [{ before: first.before, after: last.after }]
  })
}
