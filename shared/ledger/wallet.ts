import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { type Big, zero } from '../money.ts'
import { settings } from '../settings.ts'
import type { BillType } from './bill-type.ts'
import { decodeMarks, encodeMarks, type Mark } from './mark.ts'

/** The name of one of a user's two wallets. */
export const WalletName = v.picklist(['asset', 'reward'])
export type WalletName = v.InferOutput<typeof WalletName>

export interface WalletId {
  userId: number
  wallet: WalletName
}

/** Builds a wallet's path, its name inside keys. */
export const walletPath = ({ userId, wallet }: WalletId): string => `${userId}#${wallet}`

/**
 * Statistics of a wallet's bills of one type and currency: number, and quarter-hour of the newest, which only
 * a wallet with six lists stores.
 */
export interface BillCount {
  count: number
  lastQuarter: number
}

/** A wallet's balances and sums in one currency. */
export interface Holding {
  /** The currency's number in the wallet's index: 0 is that of the first bill, 1 the next new one, … */
  number: number
  balance: Big
  hold: Big
  deposited: Big
  withdrawal: Big
  bills: Partial<Record<BillType, BillCount>>
}

/** A holding of a currency, by the currency's number, before its first movement. */
export const emptyHolding = (number: number): Holding => ({
  number,
  balance: zero,
  hold: zero,
  deposited: zero,
  withdrawal: zero,
  bills: {},
})

/** The part of a wallet's index of bills that is in the wallet's own item. */
export interface OpenIndex {
  /** Quarter of an hour of the wallet's first bill; 0 before it. */
  first: number
  /** Marks of the newest bills, oldest first: those that are in no chunk of the index yet. */
  tail: readonly Mark[]
}

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
  /** The open part of the index; undefined for a wallet that still has its bills in six lists. */
  index: OpenIndex | undefined
}

/** An index without bills. */
export const emptyIndex: OpenIndex = { first: 0, tail: [] }

/** Creates an empty wallet, before its first movement. */
export const newWallet = (id: WalletId): Wallet => ({
  id,
  version: 0,
  lastAt: 0,
  holdings: new Map(),
  index: settings().keepBillLists ? undefined : emptyIndex,
})

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
 * and every bill writes the wallet: about seven currencies fit into the first kilobyte. `i` is the currency's
 * number, and `n` has the number of bills by their type. A wallet with six lists has no `i`, and in `s` the
 * quarter of an hour of the newest bill of each type. An earlier release cannot read a wallet without `s`,
 * and so never writes one whose index it does not know.
 */
const HoldingAttributes = v.object({
  i: v.optional(Integer),
  b: Decimal,
  h: Decimal,
  d: Decimal,
  w: Decimal,
  n: v.record(v.string(), Integer),
  s: v.optional(v.record(v.string(), Integer), {}),
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
  /** Quarter of an hour of the first bill, and the marks of the newest: only of a wallet with an index. */
  first: v.optional(Integer),
  tail: v.optional(v.instance(Uint8Array)),
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
  const { version, last_at: lastAt, holdings, first = 0, tail } = v.parse(WalletItem, item)
  const entries = Object.entries(holdings).map(([code, held], i) => [code, toHolding(held, i)] as const)
  const index = tail && { first, tail: decodeMarks(tail) }
  return { id, version, lastAt, holdings: new Map(entries), index }
}

const toHolding = (
  { i: number, b, h, d, w, n, s }: v.InferOutput<typeof HoldingAttributes>,
  position: number,
): Holding => ({
  number: number ?? position,
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
export const walletItem = ({ id, version, lastAt, holdings, index }: Wallet): Item & Key => ({
  ...walletKeys.key({ ...id }),
  // A wallet's index keys never change, so later writes cause no index writes.
  gpk: registerPartition(id.userId % registerShards),
  gsk: walletPath(id),
  version,
  last_at: lastAt,
  holdings: Object.fromEntries(
    [...holdings].map(([currency, held]) => [currency, toAttributes(held, index !== undefined)]),
  ),
  ...(index && { first: index.first, tail: encodeMarks(index.tail) }),
})

/** The write that stores a wallet; its condition fails unless the stored version is the previous one. */
export const putWallet = (wallet: Wallet): Write => putVersioned(walletItem(wallet), wallet.version - 1)

/** Key of a wallet's item. */
export const walletKey = (id: WalletId): Key => walletKeys.key({ ...id })

function toAttributes({ number, balance, hold, deposited, withdrawal, bills }: Holding, isIndexed: boolean) {
  const byType = <Value>(of: (counted: BillCount) => Value) =>
    Object.fromEntries(
      Object.entries(bills).map(([type, counted]) => [typeCodes[type as BillType], of(counted)]),
    )
  return {
    b: toNumberValue(balance),
    h: toNumberValue(hold),
    d: toNumberValue(deposited),
    w: toNumberValue(withdrawal),
    n: byType(({ count }) => count),
    ...(isIndexed ? { i: number } : { s: byType(({ lastQuarter }) => lastQuarter) }),
  }
}
