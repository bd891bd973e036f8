import * as v from 'valibot'
import { Decimal, Integer, type Key, toNumberValue } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { type Big, zero } from '../money.ts'
import type { BillType } from './bill-types.ts'
import { readItem } from '../db/read.ts'

/** The two wallets of a user. */
export const WalletName = v.picklist(['asset', 'reward'])
export type WalletName = v.InferOutput<typeof WalletName>

export interface WalletId {
  userId: number
  wallet: WalletName
}

/** How many bills of a type a currency has, and the slot of time in which the newest was booked. */
export interface Filed {
  count: number
  slot: number
}

/** What a wallet holds of one currency. */
export interface Holding {
  balance: Big
  hold: Big
  deposited: Big
  withdrawal: Big
  filed: Partial<Record<BillType, Filed>>
}

/**
 * Head of a wallet: its balances and the lengths of its lists of bills in one item, so that one read answers most
 * questions and one conditional write moves money.
 */
export interface Wallet {
  id: WalletId
  /** Raised by every write; 0 before the first. */
  version: number
  /** Instant of the newest bill, epoch milliseconds; 0 before the first. */
  lastAt: number
  holdings: Map<string, Holding>
}

/** A wallet in which nothing has ever happened. */
export const newWallet = (id: WalletId): Wallet => ({ id, version: 0, lastAt: 0, holdings: new Map() })

/** Nothing of a currency. */
export const emptyHolding: Holding = {
  balance: zero,
  hold: zero,
  deposited: zero,
  withdrawal: zero,
  filed: {},
}

/** A wallet's name inside keys. */
export const walletPath = ({ userId, wallet }: WalletId): string => `${userId}#${wallet}`

const walletKey = (id: WalletId): Key => ({ pk: `W#${walletPath(id)}`, sk: 'HEAD' })

/**
 * Writing costs by the kilobyte, and every bill writes the head: its attributes have short names, so that about eight
 * currencies fit into the first one.
 */
const codes: Record<BillType, string> = {
  DEPOSIT: 'D',
  WITHDRAWAL: 'W',
  TRANSFER_IN: 'I',
  TRANSFER_OUT: 'O',
  REWARD: 'R',
  PACKAGE_PURCHASE: 'P',
  ADJUSTMENT_CREDIT: 'C',
  ADJUSTMENT_DEBIT: 'X',
}

const HoldingAttributes = v.object({
  b: Decimal,
  h: Decimal,
  d: Decimal,
  w: Decimal,
  n: v.record(v.string(), Integer),
  s: v.record(v.string(), Integer),
})
type HoldingAttributes = v.InferOutput<typeof HoldingAttributes>

const WalletItem = v.object({
  version: Integer,
  last_at: Integer,
  holdings: v.record(v.string(), HoldingAttributes),
})

/** The wallet as it is stored, or a new one where nothing has ever happened. */
export async function readWallet(id: WalletId, { consistent = false } = {}): Promise<Wallet> {
  const item = await readItem(walletKey(id), { consistent })
  return item === undefined ? newWallet(id) : toWallet(id, item)
}

/** The wallet that a stored item describes. */
export function toWallet(id: WalletId, item: Record<string, unknown>): Wallet {
  const { version, last_at: lastAt, holdings } = v.parse(WalletItem, item)
  return {
    id,
    version,
    lastAt,
    holdings: new Map(
      Object.entries(holdings).map(([currency, attributes]) => [currency, toHolding(attributes)]),
    ),
  }
}

const toHolding = ({ b, h, d, w, n, s }: HoldingAttributes): Holding => ({
  balance: b,
  hold: h,
  deposited: d,
  withdrawal: w,
  filed: Object.fromEntries(
    Object.entries(codes).flatMap(([type, code]) => {
      const count = n[code]
      return count === undefined ? [] : [[type, { count, slot: s[code] ?? 0 }] as const]
    }),
  ),
})

/** Partitions over which the register of all wallets is spread. */
export const registerShards = 16

/** Partition of the index in which all wallets of a shard are listed. */
export const registerPartition = (shard: number): string => `WALLETS#${shard}`

/** The write that replaces a wallet's head, provided that it still stands at the version before. */
export function putWallet(wallet: Wallet): Write {
  const { id, version, lastAt, holdings } = wallet
  return {
    Put: {
      Item: {
        ...walletKey(id),
        // Written once: an item whose index keys stay the same costs the index nothing.
        gpk: registerPartition(id.userId % registerShards),
        gsk: walletPath(id),
        version,
        last_at: lastAt,
        holdings: Object.fromEntries([...holdings].map(([currency, held]) => [currency, toAttributes(held)])),
      },
      ConditionExpression: version === 1 ? 'attribute_not_exists(pk)' : 'version = :before',
      ...(version === 1 ? {} : { ExpressionAttributeValues: { ':before': version - 1 } }),
    },
  }
}

function toAttributes({ balance, hold, deposited, withdrawal, filed }: Holding) {
  const entries = Object.entries(filed).map(([type, its]) => [codes[type as BillType], its] as const)
  return {
    b: toNumberValue(balance),
    h: toNumberValue(hold),
    d: toNumberValue(deposited),
    w: toNumberValue(withdrawal),
    n: Object.fromEntries(entries.map(([code, { count }]) => [code, count])),
    s: Object.fromEntries(entries.map(([code, { slot }]) => [code, slot])),
  }
}
