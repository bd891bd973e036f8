import * as v from 'valibot'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { itemType } from '../db/item-type.ts'
import { rowKey } from '../db/numbered-list.ts'
import { Integer, type Item } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import type { RejectionReason } from '../events/rejected-event.ts'
import { type Big, countDecimals, fitsTable, fitsWithDecimals, Money, zero } from '../money.ts'
import { addToCounts, BillType, billTypes, codeOf, Direction } from './bill-types.ts'
import { countBills, type Holding, holdingOf, quarterOf, type Wallet, type WalletId } from './wallet.ts'

/** Answer: a bill as its owner sees it. Bills never change. */
export const Bill = v.object({
  id: v.string(),
  currency: v.string(),
  amount: Money,
  amount_direction: Direction,
  business_id: BillType,
  /** Sum of the currency's balance and held amount after this bill. */
  balance_after: Money,
  /** Id of what caused the bill, for example its deposit_id, withdrawal_id or transfer_id. */
  reference: v.string(),
  remark: v.nullable(v.string()),
  /** Instant at which the bill was posted, epoch milliseconds. */
  created_at: v.number(),
  /** Instant that the event behind the bill states, epoch milliseconds: `at`, or when `earned_on` began. */
  occurred_at: v.number(),
})
export type Bill = v.InferOutput<typeof Bill>

const BillItem = v.object({
  id: v.string(),
  currency: v.string(),
  amount: Decimal,
  type: BillType,
  balance_after: Decimal,
  reference: v.string(),
  remark: v.optional(v.string()),
  created_at: Integer,
  occurred_at: Integer,
})

/** A posting changes the balance of a wallet, and adds a bill. The bill's type gives the direction. */
export interface Posting {
  kind: 'post'
  type: BillType
  currency: string
  /** Amount of the posting; positive, because its type gives the direction. */
  amount: Big
  /** Id of the deposit, withdrawal, transfer, … that causes the posting; stored as the bill's `reference`. */
  reference: string
  remark?: string | undefined
  /** Whether the amount is taken out of the hold instead of the balance. */
  fromHold?: boolean
}

/** A new bill that is not stored yet. */
export interface NewBill extends Posting {
  id: WalletId
  /** Number of the bill in its wallet: 1, 2, 3, … without gaps. */
  number: number
  balanceAfter: Big
  createdAt: number
  occurredAt: number
}

const billKeys = itemType({
  pk: 'BL#{userId}#{wallet}',
  sk: '{number}',
  holds: 'a bill; the wallet’s index tells which numbers a filter selects',
  found: 'by its number',
})

/** Partition key of a wallet's bills. */
export const billList = (id: WalletId): string => billKeys.partition({ ...id })

/** The id of a bill, as the API has it. */
export const billId = ({ id, number }: Pick<NewBill, 'id' | 'number'>): string =>
  `${id.wallet === 'asset' ? 'A' : 'R'}${id.userId}-${number}`

/** The write that stores a new bill. It never overwrites a bill. */
export function putBill({ id, number, type, currency, reference, remark, ...bill }: NewBill): Write {
  const item = {
    id: billId({ id, number }),
    currency,
    amount: toNumberValue(bill.amount),
    type,
    balance_after: toNumberValue(bill.balanceAfter),
    reference,
    remark,
    created_at: bill.createdAt,
    occurred_at: bill.occurredAt,
  }
  const otherwise = () => new Error('there is a bill with this number, so the wallet is older than its bills')
  return { ...putNew({ ...rowKey(billList(id), number), ...item }), otherwise }
}

/** Parses a bill from its item. */
export function toBill(row: Item): Bill {
  const { type, remark, ...rest } = v.parse(BillItem, row)
  return { ...rest, amount_direction: billTypes[type].direction, business_id: type, remark: remark ?? null }
}

/** A reservation moves a part of the balance to the hold, or back. It adds no bill to the wallet. */
interface Reservation {
  kind: 'hold' | 'release'
  currency: string
  amount: Big
}

/** Counts a new withdrawal, and so gives it a number. It changes no amount. */
interface Opening {
  kind: 'open withdrawal'
  currency: string
}

/** A movement: one change to one currency in a wallet. */
export type Movement = Posting | Reservation | Opening

/** Result of a movement: the changed wallet and, for a posting, a new bill; or the reason of a rejection. */
type Applied = { wallet: Wallet; bill?: NewBill; rejection?: undefined } | { rejection: RejectionReason }

/** Maximum number of currencies in a wallet. Every movement rewrites the whole wallet. */
const maxCurrencies = 100

/**
 * Applies a movement to a wallet. It is booked at the instant `at`, and its bill says that it occurred at
 * `occurredAt` (both epoch milliseconds). Writes nothing.
 */
export function applyMovement(before: Wallet, movement: Movement, at: number, occurredAt: number): Applied {
  const { currency } = movement
  if (movement.kind === 'open withdrawal') return openWithdrawal(before, currency, at)
  const applied =
    movement.kind === 'post'
      ? addBill(before, movement, at, occurredAt)
      : { wallet: setHolding(before, currency, reserve(holdingOf(before, currency), movement), at) }
  const hasRoom = applied.wallet.holdings.size <= maxCurrencies
  const rejection =
    findRejection(holdingOf(applied.wallet, currency)) ?? (hasRoom ? undefined : 'too_many_currencies')
  return rejection === undefined ? applied : { rejection }
}

/** Adds a bill to a wallet, whatever its amounts become. */
export function addBill(
  before: Wallet,
  posting: Posting,
  at: number,
  occurredAt: number,
): { wallet: Wallet; bill: NewBill } {
  const { currency, type } = posting
  const after = post(holdingOf(before, currency), posting)
  const mark = { code: codeOf(after.number, type), quarter: quarterOf(at) }
  const wallet = {
    ...setHolding(before, currency, after, at),
    counts: addToCounts(before.counts, mark.code),
    first: before.first || mark.quarter,
    tail: [...before.tail, mark],
  }
  const number = countBills(wallet)
  const balanceAfter = after.balance.plus(after.hold)
  return { wallet, bill: { ...posting, id: wallet.id, number, balanceAfter, createdAt: at, occurredAt } }
}

const setHolding = (before: Wallet, currency: string, holding: Holding, at: number): Wallet => ({
  ...before,
  lastAt: at,
  holdings: new Map(before.holdings).set(currency, holding),
})

function openWithdrawal(before: Wallet, currency: string, at: number): Applied {
  const { withdrawals } = before
  if (!withdrawals.has(currency) && withdrawals.size >= maxCurrencies)
    return { rejection: 'too_many_currencies' }
  const counted = new Map(withdrawals).set(currency, (withdrawals.get(currency) ?? 0) + 1)
  return { wallet: { ...before, lastAt: at, withdrawals: counted } }
}

function post(before: Holding, { type, amount, fromHold = false }: Posting): Holding {
  const signed = billTypes[type].direction === 1 ? amount : amount.neg()
  return {
    ...withHold(before, fromHold ? signed : zero),
    balance: before.balance.plus(fromHold ? zero : signed),
    deposited: before.deposited.plus(type === 'DEPOSIT' ? amount : zero),
    withdrawal: before.withdrawal.plus(type === 'WITHDRAWAL' ? amount : zero),
  }
}

function reserve(before: Holding, { kind, amount }: Reservation): Holding {
  const held = kind === 'hold' ? amount : amount.neg()
  return { ...withHold(before, held), balance: before.balance.minus(held) }
}

/** Changes what is held by an amount, which may be negative. */
function withHold(before: Holding, change: Big): Holding {
  const hold = before.hold.plus(change)
  const heldDecimals = hold.eq('0') ? 0 : Math.max(before.heldDecimals, countDecimals(change))
  return { ...before, hold, heldDecimals }
}

/** Why a wallet cannot have these amounts: one is negative, or has more digits than the table stores. */
function findRejection(holding: Holding): RejectionReason | undefined {
  const { balance, hold, deposited, withdrawal } = holding
  if (balance.lt('0')) return 'insufficient_balance'
  if (hold.lt('0')) return 'insufficient_hold'
  const fits = [balance, hold, balance.plus(hold), deposited, withdrawal].every(fitsTable)
  return fits && canReleaseHold(holding) ? undefined : 'balance_too_large'
}

/**
 * Whether every amount that is held can be settled and can go back to the balance, in any order: with any
 * part of the hold, neither `withdrawal` nor the balance has more digits than the table stores.
 */
const canReleaseHold = ({ hold, heldDecimals, balance, withdrawal }: Holding): boolean =>
  hold.eq('0') ||
  [balance, withdrawal].every((amount) =>
    fitsWithDecimals(amount.plus(hold), Math.max(heldDecimals, countDecimals(amount))),
  )
