import { readRows } from '../db/numbered-list.ts'
import { readItem } from '../db/read.ts'
import type { Change } from '../db/write.ts'
import { type Bill, listName, toBill } from './bill.ts'
import {
  applyMovements,
  type Movement,
  newWallet,
  toWallet,
  type Wallet,
  type WalletId,
  walletItem,
  walletKey,
} from './wallet.ts'

/** Amounts that are held for open withdrawals. */
export type Holds = readonly { currency: string; amount: Bill['amount'] }[]

/** Error: a wallet's bills have gaps before the instant to which it is to be taken back. */
export class TornBefore extends Error {
  override readonly name = 'TornBefore'
}

/**
 * The change that takes a wallet's item back to an instant (epoch milliseconds): to what follows from its
 * bills before that, and from its withdrawals that are open then. Throws TornBefore if these bills do not
 * have all numbers.
 */
export async function undoWallet(id: WalletId, holds: Holds, since: number): Promise<Change[]> {
  const before = await readItem(walletKey(id), { consistent: true })
  const movements: { movement: Movement; at: number }[] = []
  for await (const row of readRows(listName(id, {}))) {
    const bill = toBill(row)
    if (bill.created_at >= since) break
    movements.push({ movement: toPosting(bill), at: bill.created_at })
    if (Number(row['sk']) !== movements.length) throw new TornBefore(`bill ${movements.length} is missing`)
  }
  const lastAt = movements.at(-1)?.at ?? 0
  for (const hold of holds) movements.push({ movement: { kind: 'hold', ...hold }, at: lastAt })
  const stored = toWallet(id, before)
  const rebuilt = { ...rebuild(id, movements), version: stored.version + 1 }
  if (movements.length === 0) return before === undefined ? [] : [{ before, after: undefined }]
  return describe(rebuilt) === describe(stored) ? [] : [{ before, after: walletItem(rebuilt) }]
}

const toPosting = ({ business_id, currency, amount, reference }: Bill): Movement => ({
  kind: 'post',
  type: business_id,
  currency,
  amount,
  reference,
})

function rebuild(id: WalletId, movements: readonly { movement: Movement; at: number }[]): Wallet {
  let wallet = newWallet(id)
  for (const { movement, at } of movements) {
    const applied = applyMovements(wallet, [movement], at)
    if (applied.rejection !== undefined) throw new TornBefore(applied.rejection)
    wallet = applied.wallet
  }
  return wallet
}

const describe = ({ holdings }: Wallet): string =>
  JSON.stringify([...holdings].sort(([a], [b]) => (a < b ? -1 : 1)))
