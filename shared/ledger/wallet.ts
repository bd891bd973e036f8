import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { packRows, unpackRows } from '../db/packed-rows.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { type Big, zero } from '../money.ts'
import { type Counts, StoredCounts, toStoredCounts } from './bill-types.ts'

/** The name of one of a user's two wallets. */
export const WalletName = v.picklist(['asset', 'reward'])
export type WalletName = v.InferOutput<typeof WalletName>

export interface WalletId {
  userId: number
  wallet: WalletName
}

/** A wallet's path, which identifies it in table keys: `{userId}#{wallet}`. */
const walletPath = ({ userId, wallet }: WalletId): string => `${userId}#${wallet}`

/** A wallet's balances and sums in one currency. */
export interface Holding {
  /** The currency's number in its wallet: 0 for the currency of the wallet's first bill, then 1, 2, … */
  number: number
  balance: Big
  hold: Big
  deposited: Big
  withdrawal: Big
  /** The most digits after the point that an amount in `hold` has or had; 0 while nothing is held. */
  heldDecimals: number
}

/** What the bill index keeps of a bill: its currency and type, and when it was booked. */
export interface Mark {
  /** Currency and type of the bill as one integer (see codeOf). */
  code: number
  /** Number of the quarter-hour in which the bill was booked, counted from the epoch. */
  quarter: number
}

/** Number of whole quarter-hours from the epoch to an instant (epoch milliseconds). */
export const quarterOf = (instant: number): number => Math.floor(instant / 900_000)

/** Encodes marks of bills (see Mark), oldest first, in two or three bytes each. */
export const encodeMarks = (marks: readonly Mark[]): Uint8Array =>
  packRows(marks.map(({ code, quarter }) => [code, quarter]))

/** Decodes what encodeMarks has encoded. */
export const decodeMarks = (bytes: Uint8Array): Mark[] =>
  unpackRows<[number, number]>(bytes).map(([code, quarter]) => ({ code, quarter }))

/** A wallet. It is one item, so most requests need one read, and a movement needs one conditional write. */
export interface Wallet {
  id: WalletId
  /** Version of the wallet, raised by every write; 0 before the first. */
  version: number
  /** Instant of the wallet's newest movement, epoch milliseconds; 0 before the first. */
  lastAt: number
  holdings: Map<string, Holding>
  counts: Counts
  /** Number of the quarter-hour (`quarterOf`) in which the first bill was booked; 0 until there is a bill. */
  first: number
  /** Marks of the newest bills, oldest first. The older bills have theirs in the bill index. */
  tail: readonly Mark[]
  /** Number of withdrawals in each currency. */
  withdrawals: ReadonlyMap<string, number>
}

/** Creates an empty wallet, before its first movement. */
export const newWallet = (id: WalletId): Wallet => ({
  id,
  version: 0,
  lastAt: 0,
  holdings: new Map(),
  counts: new Map(),
  first: 0,
  tail: [],
  withdrawals: new Map(),
})

/** What a wallet has of a currency: nothing if the currency has no bill. */
export const holdingOf = ({ holdings }: Wallet, currency: string): Holding =>
  holdings.get(currency) ?? {
    number: holdings.size,
    balance: zero,
    hold: zero,
    deposited: zero,
    withdrawal: zero,
    heldDecimals: 0,
  }

/** Counts the bills of a wallet. */
export const countBills = ({ counts }: Wallet): number =>
  [...counts.values()].reduce((total, count) => total + count, 0)

const walletKeys = itemType({
  pk: 'W#{userId}#{wallet}',
  sk: 'HEAD',
  gpk: 'WALLETS#{shard}',
  gsk: '{userId}#{wallet}',
  holds: 'a wallet: balances and the number of bills of each currency',
  found: 'by user and wallet; all wallets, shard by shard, in the index',
})

/** Number of shards of the list of all wallets. Each shard is a partition of the table's index. */
export const registerShards = 16

/** Partition key of a shard's wallets in the table's index. */
export const registerPartition = (shard: number): string => `WALLETS#${shard}`

/**
 * Schema of a stored holding: an array, because names would take more space. Every bill rewrites the wallet,
 * and DynamoDB charges per kilobyte written. About seven currencies fit into the first kilobyte.
 */
const StoredHolding = v.pipe(
  v.tuple([Integer, Decimal, Decimal, Decimal, Decimal, v.optional(Integer)]),
  v.transform(([number, balance, hold, deposited, withdrawal, heldDecimals = 0]): Holding => {
    return { number, balance, hold, deposited, withdrawal, heldDecimals }
  }),
)

const toStored = ({ number, balance, hold, deposited, withdrawal, heldDecimals }: Holding) => [
  number,
  ...[balance, hold, deposited, withdrawal].map(toNumberValue),
  ...(heldDecimals > 0 ? [heldDecimals] : []),
]

const WalletItem = v.object({
  version: Integer,
  last_at: Integer,
  holdings: v.record(v.string(), StoredHolding),
  counts: StoredCounts,
  first: Integer,
  tail: v.instance(Uint8Array),
  withdrawals: v.optional(v.record(v.string(), Integer), {}),
})

/** Reads a wallet. If none is stored, resolves with an empty one. */
export const readWallet = async (id: WalletId, { consistent = false } = {}): Promise<Wallet> =>
  toWallet(id, await readItem(walletKey(id), { consistent }))

/** Parses a wallet from its item. Without an item, returns an empty wallet. */
export function toWallet(id: WalletId, item: Item | undefined): Wallet {
  if (item === undefined) return newWallet(id)
  const { last_at: lastAt, holdings, tail, withdrawals, ...rest } = v.parse(WalletItem, item)
  return {
    ...rest,
    id,
    lastAt,
    holdings: new Map(Object.entries(holdings)),
    tail: decodeMarks(tail),
    withdrawals: new Map(Object.entries(withdrawals)),
  }
}

/** The item of a wallet. */
export const walletItem = ({
  id,
  version,
  lastAt,
  holdings,
  counts,
  first,
  tail,
  withdrawals,
}: Wallet): Item & Key => ({
  ...walletKey(id),
  // A wallet's index keys never change, so later writes cause no index writes.
  gpk: registerPartition(id.userId % registerShards),
  gsk: walletPath(id),
  version,
  last_at: lastAt,
  holdings: Object.fromEntries([...holdings].map(([currency, held]) => [currency, toStored(held)])),
  counts: toStoredCounts(counts),
  first,
  tail: encodeMarks(tail),
  ...(withdrawals.size > 0 && { withdrawals: Object.fromEntries(withdrawals) }),
})

/** The write that stores a new version of a wallet. Fails unless the stored version is the previous one. */
export const putWallet = (wallet: Wallet): Write => putVersioned(walletItem(wallet), wallet.version - 1)

/** Key of a wallet's item. */
export const walletKey = (id: WalletId): Key => walletKeys.key({ ...id })
