import type { RejectionReason } from '../events/rejected-event.ts'
import { type Big, fitsTable, zero } from '../money.ts'
import { type BillType, billTypes } from './bill-type.ts'
import { codeOf, type Mark, quarterOf } from './mark.ts'
import { emptyHolding, type Holding, type OpenIndex, type Wallet } from './wallet.ts'

/** A posting adds to a wallet or takes from it, depending on its bill type, and makes a bill. */
export interface Posting {
  kind: 'post'
  type: BillType
  currency: string
  /** Amount of the posting; positive, because its type gives the direction. */
  amount: Big
  /** Business key of the event that causes the posting. */
  reference: string
  remark?: string | undefined
  /** Whether the amount is taken out of the hold instead of the balance. */
  fromHold?: boolean
}

/** A reservation moves a part of the balance to the hold, or back. It makes no bill. */
export interface Reservation {
  kind: 'hold' | 'release'
  currency: string
  /** Amount of the reservation; positive. */
  amount: Big
}

/** A movement: one change of one currency of a wallet. */
export type Movement = Posting | Reservation

/** A bill that is not written yet. Its numbers in the wallet's lists follow from `walletBefore`. */
export interface NewBill {
  walletBefore: Wallet
  posting: Posting
  balanceAfter: Big
  createdAt: number
}

/** Result of movements: the wallet after them and the new bills, or why the movements are rejected. */
export type Applied =
  { wallet: Wallet; bills: NewBill[]; rejection?: undefined } | { rejection: RejectionReason }

/** Applies movements to a wallet at one instant (epoch milliseconds), all or none. Writes nothing. */
export function applyMovements(before: Wallet, movements: readonly Movement[], at: number): Applied {
  let wallet = before
  const bills: NewBill[] = []
  for (const movement of movements) {
    const { currency } = movement
    const holding = wallet.holdings.get(currency) ?? emptyHolding(wallet.holdings.size)
    const after = movement.kind === 'post' ? post(holding, movement, at) : reserve(holding, movement)
    const rejection = findRejection(after)
    if (rejection !== undefined) return { rejection }
    const walletBefore = wallet
    wallet = { ...wallet, lastAt: at, holdings: new Map(wallet.holdings).set(currency, after) }
    if (movement.kind !== 'post') continue
    const mark = { code: codeOf(after.number, movement.type), quarter: quarterOf(at) }
    wallet = { ...wallet, index: wallet.index && addMark(wallet.index, mark) }
    bills.push({
      walletBefore,
      posting: movement,
      balanceAfter: after.balance.plus(after.hold),
      createdAt: at,
    })
  }
  return { wallet, bills }
}

/** Adds the mark of a bill to the open part of an index. */
export const addMark = ({ first, tail }: OpenIndex, mark: Mark): OpenIndex => ({
  first: first === 0 ? mark.quarter : first,
  tail: [...tail, mark],
})

function post(before: Holding, { type, amount, fromHold = false }: Posting, at: number): Holding {
  const signed = billTypes[type] === 1 ? amount : amount.neg()
  const count = (before.bills[type]?.count ?? 0) + 1
  return {
    ...before,
    balance: before.balance.plus(fromHold ? zero : signed),
    hold: before.hold.plus(fromHold ? signed : zero),
    deposited: before.deposited.plus(type === 'DEPOSIT' ? amount : zero),
    withdrawal: before.withdrawal.plus(type === 'WITHDRAWAL' ? amount : zero),
    bills: { ...before.bills, [type]: { count, lastQuarter: quarterOf(at) } },
  }
}

function reserve(before: Holding, { kind, amount }: Reservation): Holding {
  const held = kind === 'hold' ? amount : amount.neg()
  return { ...before, balance: before.balance.minus(held), hold: before.hold.plus(held) }
}

/** Why a wallet may not have these amounts: one is negative, or has more digits than the table keeps. */
function findRejection({ balance, hold, deposited, withdrawal }: Holding): RejectionReason | undefined {
  if (balance.lt('0')) return 'insufficient_balance'
  if (hold.lt('0')) return 'insufficient_hold'
  const fits = [balance, hold, balance.plus(hold), deposited, withdrawal].every(fitsTable)
  return fits ? undefined : 'balance_too_large'
}
