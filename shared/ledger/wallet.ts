import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Decimal, Integer, type Item, type Key, toNumberValue } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import type { RejectionReason } from '../events/rejected-event.ts'
import { type Big, fitsTable, zero } from '../money.ts'

/** Direction of a bill: 1 adds to a wallet, 2 takes from it. */
export const Direction = v.picklist([1, 2])
export type Direction = v.InferOutput<typeof Direction>

/** Every type of bill (`business_id`), with its direction. */
export const billTypes = {
  DEPOSIT: 1,
  WITHDRAWAL: 2,
  TRANSFER_IN: 1,
  TRANSFER_OUT: 2,
  REWARD: 1,
  PACKAGE_PURCHASE: 2,
  ADJUSTMENT_CREDIT: 1,
  ADJUSTMENT_DEBIT: 2,
} as const satisfies Record<string, Direction>

export const BillType = v.picklist(Object.keys(billTypes) as (keyof typeof billTypes)[])
export type BillType = v.InferOutput<typeof BillType>

/** The name of one of a user's two wallets. */
export const WalletName = v.picklist(['asset', 'reward'])
export type WalletName = v.InferOutput<typeof WalletName>

export interface WalletId {
  userId: number
  wallet: WalletName
}

/** Builds a wallet's path, its name inside keys. */
export const walletPath = ({ userId, wallet }: WalletId): string => `${userId}#${wallet}`

/** Statistics of a wallet's bills of one type and currency: number, and quarter-hour of the newest. */
export interface BillCount {
  count: number
  lastQuarter: number
}

/** A wallet's balances and sums in one currency. */
export interface Holding {
  balance: Big
  hold: Big
  deposited: Big
  withdrawal: Big
  bills: Partial<Record<BillType, BillCount>>
}

const emptyHolding: Holding = { balance: zero, hold: zero, deposited: zero, withdrawal: zero, bills: {} }

/**
 * A wallet: its balances and the number of its bills. It is one item of the table, so that most questions
 * need one read, and a movement needs one conditional write.
 */
export interface Wallet {
  id: WalletId
  /** Version of the wallet, raised by every write; 0 before the first. */
  version: number
  /** Instant of the wallet's newest movement, epoch milliseconds; 0 before the first. */
  lastAt: number
  holdings: Map<string, Holding>
}

/** Creates an empty wallet, before its first movement. */
export const newWallet = (id: WalletId): Wallet => ({ id, version: 0, lastAt: 0, holdings: new Map() })

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

/** Number of quarters of an hour from the epoch to an instant (epoch milliseconds). */
export const quarterOf = (instant: number): number => Math.floor(instant / 900_000)

/** Result of movements: the wallet after them and the new bills, or why the movements are rejected. */
export type Applied =
  { wallet: Wallet; bills: NewBill[]; rejection?: undefined } | { rejection: RejectionReason }

/** Applies movements to a wallet at one instant (epoch milliseconds), all or none. Writes nothing. */
export function applyMovements(before: Wallet, movements: readonly Movement[], at: number): Applied {
  let wallet = before
  const bills: NewBill[] = []
  for (const movement of movements) {
    const { currency } = movement
    const holding = wallet.holdings.get(currency) ?? emptyHolding
    const after = movement.kind === 'post' ? post(holding, movement, at) : reserve(holding, movement)
    const rejection = findRejection(after)
    if (rejection !== undefined) return { rejection }
    const walletBefore = wallet
    wallet = { ...wallet, lastAt: at, holdings: new Map(wallet.holdings).set(currency, after) }
    if (movement.kind !== 'post') continue
    bills.push({
      walletBefore,
      posting: movement,
      balanceAfter: after.balance.plus(after.hold),
      createdAt: at,
    })
  }
  return { wallet, bills }
}

function post(before: Holding, { type, amount, fromHold = false }: Posting, at: number): Holding {
  const signed = billTypes[type] === 1 ? amount : amount.neg()
  const count = (before.bills[type]?.count ?? 0) + 1
  return {
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

const walletKeys = itemType({
  pk: 'W#{userId}#{wallet}',
  sk: 'HEAD',
  gpk: 'WALLETS#{shard}',
  gsk: '{userId}#{wallet}',
  holds: 'a wallet: balances and the number of bills of each currency',
  found: 'by user and wallet; all wallets, shard by shard, in the index',
})

/** Number of partitions of the index over which the list of all wallets is spread. */
export const registerShards = 16

/** Partition key in the index for the wallets of a shard. */
export const registerPartition = (shard: number): string => `WALLETS#${shard}`

/**
 * Schema of a stored wallet. Attribute names are short because DynamoDB charges for every kilobyte written,
 * and every bill writes the wallet: about eight currencies fit into the first kilobyte. `n` and `s` hold, by
 * type of bill, the count and the quarter of an hour of the newest.
 */
const HoldingAttributes = v.object({
  b: Decimal,
  h: Decimal,
  d: Decimal,
  w: Decimal,
  n: v.record(v.string(), Integer),
  s: v.record(v.string(), Integer),
})

const typeCodes: Record<BillType, string> = {
  DEPOSIT: 'D',
  WITHDRAWAL: 'W',
  TRANSFER_IN: 'I',
  TRANSFER_OUT: 'O',
  REWARD: 'R',
  PACKAGE_PURCHASE: 'P',
  ADJUSTMENT_CREDIT: 'C',
  ADJUSTMENT_DEBIT: 'X',
}

const WalletItem = v.object({
  version: Integer,
  last_at: Integer,
  holdings: v.record(v.string(), HoldingAttributes),
})

/** Reads a wallet; a new one if nothing is stored. */
export const readWallet = async (id: WalletId, { consistent = false } = {}): Promise<Wallet> =>
  toWallet(id, await readItem(walletKey(id), { consistent }))

/** The wallet of a wallet's item, or of a row of one of its lists of bills. */
export function walletIdOf({ pk }: Item): WalletId {
  const [, userId, wallet] = String(pk).split('#')
  return { userId: Number(userId), wallet: v.parse(WalletName, wallet) }
}

/** Parses a wallet from its item; a new one without an item. */
export function toWallet(id: WalletId, item: Item | undefined): Wallet {
  if (item === undefined) return newWallet(id)
  const { version, last_at: lastAt, holdings } = v.parse(WalletItem, item)
  const entries = Object.entries(holdings).map(([currency, held]) => [currency, toHolding(held)] as const)
  return { id, version, lastAt, holdings: new Map(entries) }
}

const toHolding = ({ b, h, d, w, n, s }: v.InferOutput<typeof HoldingAttributes>): Holding => ({
  balance: b,
  hold: h,
  deposited: d,
  withdrawal: w,
  bills: Object.fromEntries(
    Object.entries(typeCodes).flatMap(([type, code]) => {
      const count = n[code]
      return count === undefined ? [] : [[type, { count, lastQuarter: s[code] ?? 0 }]]
    }),
  ),
})

/** The item of a wallet. */
export const walletItem = ({ id, version, lastAt, holdings }: Wallet): Item & Key => ({
  ...walletKeys.key({ ...id }),
  // A wallet's index keys never change, so later writes cause no index writes.
  gpk: registerPartition(id.userId % registerShards),
  gsk: walletPath(id),
  version,
  last_at: lastAt,
  holdings: Object.fromEntries([...holdings].map(([currency, held]) => [currency, toAttributes(held)])),
})

/** The write that stores a wallet; its condition fails unless the stored version is the previous one. */
export const putWallet = (wallet: Wallet): Write => putVersioned(walletItem(wallet), wallet.version - 1)

/** Key of a wallet's item. */
export const walletKey = (id: WalletId): Key => walletKeys.key({ ...id })

function toAttributes({ balance, hold, deposited, withdrawal, bills }: Holding) {
  const counts = Object.entries(bills).map(([type, counted]) => ({
    code: typeCodes[type as BillType],
    ...counted,
  }))
  return {
    b: toNumberValue(balance),
    h: toNumberValue(hold),
    d: toNumberValue(deposited),
    w: toNumberValue(withdrawal),
    n: Object.fromEntries(counts.map(({ code, count }) => [code, count])),
    s: Object.fromEntries(counts.map(({ code, lastQuarter }) => [code, lastQuarter])),
  }
}
