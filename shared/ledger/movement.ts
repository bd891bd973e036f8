import type { Write } from '../db/write.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { type Big, fitsTable, zero } from '../money.ts'
import { fileBill, slotOf } from './bill.ts'
import { type BillType, billTypes } from './bill-types.ts'
import { emptyHolding, type Holding, type Wallet } from './wallet.ts'

interface Sum {
  currency: string
  /** Positive. */
  amount: Big
}

/** Adds to a wallet or takes from it, as the type of its bill says. */
export interface Posting extends Sum {
  kind: 'post'
  type: BillType
  /** Business key of the event behind it. */
  reference: string
  remark?: string | undefined
  /** Takes the amount out of what a hold set aside, instead of the balance. */
  fromHold?: boolean
}

/** Sets a part of the balance aside, or gives it back. Makes no bill. */
export interface Reservation extends Sum {
  kind: 'hold' | 'release'
}

/** One thing that happens to one currency of a wallet. */
export type Movement = Posting | Reservation

/** A wallet after a movement, and the writes of the bill that it made, if any. */
export interface Moved {
  wallet: Wallet
  writes: Write[]
}

/**
 * Moves money inside a wallet at an instant (epoch milliseconds). Nothing is written yet. Refused where a balance or a
 * hold would become negative, or have more digits than the table keeps.
 */
export function move(wallet: Wallet, movement: Movement, at: number): Moved {
  const before = wallet.holdings.get(movement.currency) ?? emptyHolding
  return movement.kind === 'post' ? post(wallet, before, movement, at) : reserve(wallet, before, movement)
}

/** A wallet after several movements at one instant. */
export function moveAll(wallet: Wallet, movements: Movement[], at: number): Moved {
  return movements.reduce<Moved>(
    (moved, movement) => {
      const next = move(moved.wallet, movement, at)
      return { wallet: next.wallet, writes: [...moved.writes, ...next.writes] }
    },
    { wallet, writes: [] },
  )
}

function reserve(wallet: Wallet, before: Holding, { kind, currency, amount }: Reservation): Moved {
  const held = kind === 'hold' ? amount : amount.neg()
  const after = checked({
    ...before,
    balance: before.balance.minus(held),
    hold: before.hold.plus(held),
  })
  return { wallet: withHolding(wallet, currency, after), writes: [] }
}

function post(wallet: Wallet, before: Holding, posting: Posting, at: number): Moved {
  const { type, currency, amount, fromHold = false } = posting
  const signed = billTypes[type] === 1 ? amount : amount.neg()
  const after = checked({
    balance: before.balance.plus(fromHold ? zero : signed),
    hold: before.hold.plus(fromHold ? signed : zero),
    deposited: before.deposited.plus(type === 'DEPOSIT' ? amount : zero),
    withdrawal: before.withdrawal.plus(type === 'WITHDRAWAL' ? amount : zero),
    filed: { ...before.filed, [type]: { count: (before.filed[type]?.count ?? 0) + 1, slot: slotOf(at) } },
  })
  const writes = fileBill(wallet, {
    ...posting,
    balanceAfter: after.balance.plus(after.hold),
    createdAt: at,
  })
  return { wallet: { ...withHolding(wallet, currency, after), lastAt: at }, writes }
}

function checked(after: Holding): Holding {
  const { balance, hold, deposited, withdrawal } = after
  if (balance.lt('0')) throw new RejectedEvent('insufficient_balance')
  if (hold.lt('0')) throw new RejectedEvent('insufficient_hold')
  if (![balance, hold, balance.plus(hold), deposited, withdrawal].every(fitsTable)) {
    throw new RejectedEvent('balance_too_large')
  }
  return after
}

const withHolding = (wallet: Wallet, currency: string, holding: Holding): Wallet => ({
  ...wallet,
  holdings: new Map(wallet.holdings).set(currency, holding),
})
