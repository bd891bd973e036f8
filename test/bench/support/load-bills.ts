import { BatchWriteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { db, tableName } from '../../../shared/db/table.ts'
import type { Write } from '../../../shared/db/write.ts'
import { eventRecord } from '../../../shared/events/event-record.ts'
import { putBill } from '../../../shared/ledger/bill.ts'
import { type Chunk, takeChunk, writeChunks } from '../../../shared/ledger/page/index.ts'
import { applyMovements } from '../../../shared/ledger/movement.ts'
import { postTransaction } from '../../../shared/ledger/post-transaction.ts'
import { newWallet, putWallet, readWallet, type Wallet } from '../../../shared/ledger/wallet.ts'
import { Big } from '../../../shared/money.ts'
import { putUser } from '../../../shared/users/user.ts'

/** Instant of the first bill, epoch milliseconds; the others follow in six years. */
export const firstAt = Date.UTC(2020, 0, 1)
const currencies = ['USDT', 'BTC', 'ETH']
const types = ['DEPOSIT', 'TRANSFER_IN', 'ADJUSTMENT_CREDIT', 'PACKAGE_PURCHASE'] as const

/** The posting of bill number `i`. One in 150 has a rare currency, and one in 5,000 a very rare one. */
const postingOf = (i: number) =>
  ({
    kind: 'post',
    currency: i % 5_000 === 0 ? 'DOGE' : i % 150 === 1 ? 'XRP' : (currencies[i % currencies.length] ?? ''),
    amount: new Big(i % 4 === 3 ? '1' : '2.000000000000000001'),
    // The first ones are credits, so that there is something to debit.
    type: i < 4 || i % 50 < 2 ? 'DEPOSIT' : (types[i % types.length] ?? 'DEPOSIT'),
    reference: `bench-${i}`,
  }) as const

type Items = Record<string, unknown>[]

/** Computes bills in memory, and writes them and their index directly into the table. */
export async function loadBills(userId: number, size: number): Promise<void> {
  const step = Math.floor((6 * 365 * 86_400_000) / size)
  let wallet: Wallet = { ...newWallet({ userId, wallet: 'asset' }), version: 1 }
  const pending: Items = []
  const chunks: Chunk[] = []
  const write = async () => {
    await writeChunks(wallet, chunks.splice(0))
    await writeAll(pending.splice(0))
  }
  for (let i = 0; i < size; i += 1) {
    const moved = applyMovements(wallet, [postingOf(i)], firstAt + i * step)
    if (moved.rejection !== undefined) throw new Error(moved.rejection)
    const taken = takeChunk(moved.wallet)
    wallet = taken?.rest ?? moved.wallet
    if (taken !== undefined) chunks.push(taken.chunk)
    pending.push(...itemsOf(moved.bills.map(putBill)))
    if (pending.length >= 4_096) await write()
  }
  await write()
  await writeAll(itemsOf([putWallet(wallet), putUser(newUser(userId))]))
}

const itemsOf = (writes: Write[]): Items => writes.map(({ Put }) => Put?.Item ?? {})

const newUser = (userId: number) => ({
  userId,
  email: `${userId}@example.com`,
  nickname: 'bench',
  referrerId: undefined,
  registeredAt: firstAt,
})

async function writeAll(items: Items): Promise<void> {
  const starts = Array.from({ length: Math.ceil(items.length / 25) }, (_, i) => 25 * i).values()
  const work = async () => {
    for (const start of starts) {
      const requests = items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }))
      const { UnprocessedItems } = await db.send(
        new BatchWriteCommand({ RequestItems: { [tableName()]: requests } }),
      )
      for (const { PutRequest } of UnprocessedItems?.[tableName()] ?? [])
        await db.send(new PutCommand({ TableName: tableName(), Item: PutRequest?.Item }))
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

/** Posts bill number `i` of a series as an event would. */
export async function postBill(userId: number, i: number): Promise<void> {
  const id = { userId, wallet: 'asset' } as const
  const { version } = await readWallet(id, { consistent: true })
  await postTransaction({
    record: eventRecord('bench', `${userId}-${version}-${i}`, {}),
    wallets: [{ id, movements: [postingOf(i)] }],
  })
}
