import { canonicalJson } from '../canonical-json.ts'
import { readRows } from '../db/numbered-list.ts'
import { keyText, queryItems, readItem } from '../db/read.ts'
import type { Item, Key } from '../db/table.ts'
import type { Change } from '../db/write.ts'
import { type Bill, billList, toBill } from './bill.ts'
import { applyMovements, type Movement } from './movement.ts'
import {
  blockKey,
  type Chunk,
  chunkItem,
  chunkRange,
  currenciesOf,
  partsOf,
  takeChunk,
} from './page/index.ts'
import { newWallet, toWallet, type Wallet, type WalletId, walletItem, walletKey } from './wallet.ts'

/** Amounts that are held for open withdrawals. */
export type Holds = readonly { currency: string; amount: Bill['amount'] }[]

/** Error: a wallet's bills have gaps before the instant to which it is to be taken back. */
export class TornBefore extends Error {
  override readonly name = 'TornBefore'
}

/** A wallet as it follows from its bills, and the chunks of its index. */
interface Rebuilt {
  wallet: Wallet
  chunks: Chunk[]
}

/**
 * The changes that take a wallet's item and its index back to an instant (epoch milliseconds): to what
 * follows from its bills before that, and from its withdrawals that are open then. Throws TornBefore if these
 * bills do not have all numbers.
 */
export async function undoWallet(id: WalletId, holds: Holds, since: number): Promise<Change[]> {
  const before = await readItem(walletKey(id), { consistent: true })
  const stored = toWallet(id, before)
  const rebuilt = await rebuild(stored, holds, since)
  const { wallet } = rebuilt
  const changes = await undoIndex(rebuilt)
  if (wallet.lastAt === 0) return before === undefined ? changes : [{ before, after: undefined }, ...changes]
  const after = walletItem({ ...wallet, version: stored.version + 1 })
  return textOf(after, 'version', 'last_at') === textOf(before, 'version', 'last_at')
    ? changes
    : [{ before, after }, ...changes]
}

async function rebuild(stored: Wallet, holds: Holds, since: number): Promise<Rebuilt> {
  const { id } = stored
  const rebuilt: Rebuilt = { wallet: newWallet(id), chunks: [] }
  let number = 0
  for await (const row of readRows(billList(id))) {
    const bill = toBill(row)
    if (bill.created_at >= since) break
    number += 1
    if (Number(row['sk']) !== number) throw new TornBefore(`bill ${number} is missing`)
    move(rebuilt, toPosting(bill), bill.created_at)
  }
  for (const hold of holds) move(rebuilt, { kind: 'hold', ...hold }, rebuilt.wallet.lastAt)
  return rebuilt
}

function move(rebuilt: Rebuilt, movement: Movement, at: number): void {
  const applied = applyMovements(rebuilt.wallet, [movement], at)
  if (applied.rejection !== undefined) throw new TornBefore(applied.rejection)
  const taken = takeChunk(applied.wallet)
  rebuilt.wallet = taken?.rest ?? applied.wallet
  if (taken !== undefined) rebuilt.chunks.push(taken.chunk)
}

const toPosting = ({ business_id, currency, amount, reference }: Bill): Movement => ({
  kind: 'post',
  type: business_id,
  currency,
  amount,
  reference,
})

/** The changes of every item of the index that is not as it follows from the bills. */
async function undoIndex({ wallet, chunks }: Rebuilt): Promise<Change[]> {
  const expected = indexItems(wallet, chunks)
  const items = await readIndexItems(wallet.id)
  return [...new Set([...items.keys(), ...expected.keys()])].flatMap((key) => {
    const [before, after] = [items.get(key), expected.get(key)]
    return textOf(before) === textOf(after) ? [] : [{ before, after }]
  })
}

/** An item as text, without some of its attributes; a number is the same whether it was read or is new. */
function textOf(item: Item = {}, ...omitted: string[]): string {
  const kept = Object.entries(item).filter(([name]) => !omitted.includes(name))
  return canonicalJson(
    JSON.parse(
      JSON.stringify(Object.fromEntries(kept), (_, value: unknown) =>
        typeof value === 'number' ? { value: String(value) } : value,
      ),
    ),
  )
}

/** All items of an index with these chunks, by their keys as text. */
function indexItems(wallet: Wallet, chunks: readonly Chunk[]): Map<string, Item & Key> {
  const currencies = currenciesOf(wallet)
  const items = new Map<string, Item & Key>()
  for (const chunk of chunks) {
    const own = chunkItem(wallet.id, chunk)
    items.set(keyText(own), own)
    for (const { filter, block, places } of partsOf(chunk, currencies)) {
      const key = blockKey(wallet.id, filter, block)
      items.set(keyText(key), { ...key, ...items.get(keyText(key)), [chunk.number]: Uint8Array.from(places) })
    }
  }
  return items
}

/** Reads all items of the index of a wallet, strongly consistent, by their keys as text. */
export async function readIndexItems(id: WalletId): Promise<Map<string, Item>> {
  const items = new Map<string, Item>()
  const query = {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': chunkRange(id)[0].pk },
    ConsistentRead: true,
  }
  for await (const item of queryItems(query)) items.set(keyText(item), item)
  return items
}
