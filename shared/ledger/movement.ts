import type { RejectionReason } from '../events/rejected-event.ts'
import { type Big, fitsTable, zero } from '../money.ts'
import type { NewBill } from './bill.ts'
import { type BillType, billTypes, codeOf } from './bill-types.ts'
import { countBills, emptyHolding, type Holding, quarterOf, type Wallet } from './wallet.ts'

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
interface Reservation {
  kind: 'hold' | 'release'
  currency: string
  /** Amount of the reservation; positive. */
  amount: Big
}

/** A movement: one change of one currency of a wallet. */
export type Movement = Posting | Reservation

/** Result of movements: the wallet after them and the new bills, or why the movements are rejected. */
type Applied = { wallet: Wallet; bills: NewBill[]; rejection?: undefined } | { rejection: RejectionReason }

/** Applies movements to a wallet at one instant (epoch milliseconds), all or none. Writes nothing. */
export function applyMovements(before: Wallet, movements: readonly Movement[], at: number): Applied {
  let wallet = before
  const bills: NewBill[] = []
  for (const movement of movements) {
    const { currency } = movement
    const holding = wallet.holdings.get(currency) ?? emptyHolding(wallet.holdings.size)
    const after = movement.kind === 'post' ? post(holding, movement) : reserve(holding, movement)
    const rejection = findRejection(after)
    if (rejection !== undefined) return { rejection }
    wallet = { ...wallet, lastAt: at, holdings: new Map(wallet.holdings).set(currency, after) }
    if (movement.kind !== 'post') continue
    const mark = { code: codeOf(after.number, movement.type), quarter: quarterOf(at) }
    wallet = { ...wallet, first: wallet.first || mark.quarter, tail: [...wallet.tail, mark] }
    bills.push({
      ...movement,
      id: wallet.id,
      number: countBills(wallet),
      balanceAfter: after.balance.plus(after.hold),
      createdAt: at,
    })
  }
  return { wallet, bills }
}

function post(before: Holding, { type, amount, fromHold = false }: Posting): Holding {
  const signed = billTypes[type].direction === 1 ? amount : amount.neg()
  return {
    ...before,
    balance: before.balance.plus(fromHold ? zero : signed),
    hold: before.hold.plus(fromHold ? signed : zero),
    deposited: before.deposited.plus(type === 'DEPOSIT' ? amount : zero),
    withdrawal: before.withdrawal.plus(type === 'WITHDRAWAL' ? amount : zero),
    bills: { ...before.bills, [type]: (before.bills[type] ?? 0) + 1 },
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
