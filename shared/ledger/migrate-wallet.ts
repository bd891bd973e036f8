import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readRange, readRows, rowsPerRead } from '../db/numbered-list.ts'
import { queryItems, readItem } from '../db/read.ts'
import { Integer, type Item, Key } from '../db/table.ts'
import { deleteItems, tryTransact, type Write, writeItem } from '../db/write.ts'
import { type Bill, listName, measureList, toBill } from './bill.ts'
import { type Chunk, currenciesOf, listsOf, takeChunk } from './bill-index.ts'
import { addToCounts, codeOf, quarterOf, readCode } from './mark.ts'
import { readChunkBefore, writeChunks } from './stored-index.ts'
import { addMark } from './movement.ts'
import {
  emptyHolding,
  type Holding,
  newWallet,
  putWallet,
  readWallet,
  type Wallet,
  type WalletId,
} from './wallet.ts'

const migrationKeys = itemType({
  pk: 'W#{userId}#{wallet}',
  sk: 'MIGRATION',
  holds: 'the move of a wallet from six lists of bills to an index; deleted when the lists are',
  found: 'by user and wallet',
})

const Migration = v.object({
  /** The wallet's currencies in the order of their numbers in the index. */
  currencies: v.array(v.string()),
  /** When the wallet got its index, and nothing needed its lists any more; epoch milliseconds. */
  indexed_at: v.optional(Integer),
})
type Migration = v.InferOutput<typeof Migration>

async function readMigration(id: WalletId): Promise<Migration | undefined> {
  const item = await readItem(migrationKeys.key({ ...id }), { consistent: true })
  return item && v.parse(Migration, item)
}

const putMigration = (id: WalletId, migration: Migration): Write => ({
  Put: { Item: { ...migrationKeys.key({ ...id }), ...migration } },
})

/** Number of chunks that are written at a time. */
const chunksTogether = 64

/**
 * Gives a wallet with six lists of bills an index instead. The wallet may be written meanwhile, and serves
 * all the time. If this is interrupted, the next call goes on after the last chunk that was written.
 */
export async function migrateWallet(id: WalletId): Promise<void> {
  let indexed: Wallet | undefined
  for (;;) {
    const wallet = await readWallet(id, { consistent: true })
    if (wallet.version === 0 || wallet.index !== undefined) return
    indexed = await indexBills(wallet, indexed ?? (await resume(id)))
    const migration = { currencies: currenciesOf(indexed), indexed_at: Date.now() }
    const failures = await tryTransact([putWallet(withIndex(wallet, indexed)), putMigration(id, migration)])
    if (failures.length === 0) return
  }
}

/**
 * Writes the chunks of the bills that a wallet has and its index does not, given the wallet as far as its
 * index goes. Resolves with the wallet as far as its index goes then.
 */
async function indexBills(wallet: Wallet, before: Wallet): Promise<Wallet> {
  const { length } = measureList(wallet, {})
  let indexed = before
  let chunks: Chunk[] = []
  let number = measureList(before, {}).length
  if (number === length) return before
  const write = async () => {
    if (chunks.length === 0) return
    await writeItem(putMigration(wallet.id, { currencies: currenciesOf(indexed) }))
    await writeChunks(indexed, chunks)
    chunks = []
  }
  for await (const row of readRows(listName(wallet.id, {}), number + 1)) {
    number += 1
    if (Number(row['sk']) !== number) break
    indexed = addBill(indexed, toBill(row))
    const taken = takeChunk(indexed)
    indexed = taken?.rest ?? indexed
    if (taken !== undefined) chunks.push(taken.chunk)
    if (chunks.length === chunksTogether) await write()
    if (number === length) break
  }
  if (measureList(indexed, {}).length !== length) throw new Error(`bill ${number} is missing`)
  await write()
  return indexed
}

/** The wallet up to the last chunk that was written: only what its index has. */
async function resume(id: WalletId): Promise<Wallet> {
  const migration = await readMigration(id)
  const chunk = await readChunkBefore(id, undefined, { consistent: true })
  const [firstRow] = await readRange(listName(id, {}), 1, 1)
  const first = firstRow === undefined ? 0 : quarterOf(toBill(firstRow).created_at)
  const counts = new Map(chunk?.before)
  for (const { code } of chunk?.marks ?? []) addToCounts(counts, code)
  const holdings = new Map<string, Holding>()
  for (const [number, currency] of (migration?.currencies ?? []).entries())
    holdings.set(currency, emptyHolding(number))
  for (const [code, count] of counts) {
    const { currencyNumber, type } = readCode(code)
    const held = [...holdings.values()][currencyNumber]
    if (held !== undefined) held.bills[type] = { count, lastQuarter: 0 }
  }
  return { ...newWallet(id), holdings, index: { first, tail: [] } }
}

/** Adds a bill to what the index of a wallet has. */
function addBill(wallet: Wallet, { currency, business_id: type, created_at: at }: Bill): Wallet {
  const held = wallet.holdings.get(currency) ?? emptyHolding(wallet.holdings.size)
  const bills = { ...held.bills, [type]: { count: (held.bills[type]?.count ?? 0) + 1, lastQuarter: 0 } }
  return {
    ...wallet,
    holdings: new Map(wallet.holdings).set(currency, { ...held, bills }),
    index: wallet.index && addMark(wallet.index, { code: codeOf(held.number, type), quarter: quarterOf(at) }),
  }
}

/** The next version of a wallet, with an index. */
function withIndex(wallet: Wallet, { holdings, index }: Wallet): Wallet {
  const numbered = [...wallet.holdings].map(([currency, held]) => {
    const number = holdings.get(currency)?.number
    if (number === undefined) throw new Error(`${currency} has no bill`)
    return [currency, { ...held, number }] as const
  })
  return { ...wallet, version: wallet.version + 1, holdings: new Map(numbered), index }
}

/** Number of rows that are deleted at a time, by four calls, while other wallets are migrated, too. */
const rowsPerDeletion = 100

/**
 * Deletes the five lists of a wallet that has got its index so long ago (in milliseconds) that no read of the
 * wallet as it was before is under way. Resolves with whether nothing of its lists is left.
 */
export async function dropLists(id: WalletId, settleMilliseconds: number): Promise<boolean> {
  const migration = await readMigration(id)
  if (migration === undefined) return true
  const { currencies, indexed_at: indexedAt } = migration
  if (indexedAt === undefined || Date.now() - indexedAt < settleMilliseconds) return false
  for (const filter of listsOf(currencies)) {
    const keys: Key[] = []
    for await (const row of readKeys(listName(id, filter))) {
      keys.push(v.parse(Key, row))
      if (keys.length === rowsPerDeletion) await deleteItems(keys.splice(0))
    }
    await deleteItems(keys)
  }
  await writeItem({ Delete: { Key: migrationKeys.key({ ...id }) } })
  return true
}

const readKeys = (pk: string): AsyncGenerator<Item> =>
  queryItems({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
    ProjectionExpression: 'pk, sk',
    ConsistentRead: true,
    Limit: rowsPerRead,
  })
