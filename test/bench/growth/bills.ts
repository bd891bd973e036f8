import { BatchWriteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { dayOf } from '../../../shared/dates.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import type { Write } from '../../../shared/db/write.ts'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import { applyMovement, putBill } from '../../../shared/ledger/bill.ts'
import type { Chunk } from '../../../shared/ledger/index/format.ts'
import { takeChunk, writeChunks } from '../../../shared/ledger/index/write.ts'
import { exportBills, readBillsPage, selectBills } from '../../../shared/ledger/find-bills.ts'
import { newWallet, putWallet, type Wallet } from '../../../shared/ledger/wallet.ts'
import { answerExport } from '../../../shared/http/export.ts'
import type { RequestInfo } from '../../../shared/http/request.ts'
import { Bill } from '../../../shared/ledger/bill.ts'
import { Big } from '../../../shared/money.ts'
import type { Row } from '../table.ts'
import { measureInRounds } from './rounds.ts'

/** Instant of the first bill in epoch milliseconds. The other bills are spread over the next six years. */
const firstAt = Date.UTC(2020, 0, 1)
const years = 6 * 365 * 86_400_000
const middleDay = dayOf(firstAt + years / 2)
const currencies = ['USDT', 'BTC', 'ETH']
const types = ['DEPOSIT', 'TRANSFER_IN', 'ADJUSTMENT_CREDIT', 'PACKAGE_PURCHASE'] as const

const filters: Record<string, { amountDirection?: 2; currency?: string; businessId?: string }> = {
  all: {},
  debits: { amountDirection: 2 },
  'currency and type': { currency: 'USDT', businessId: 'DEPOSIT' },
  '1 of 150': { currency: 'XRP' },
}
const periods = { newest: {}, 'two dates': { beginTime: '2020-02-01', endTime: middleDay } }

/** Creates the posting for bill number `i`. One bill in 150 has a rare currency. */
const postingOf = (i: number) =>
  ({
    kind: 'post',
    currency: i % 150 === 1 ? 'XRP' : (currencies[i % currencies.length] ?? ''),
    amount: new Big(i % 4 === 3 ? '1' : '2.000000000000000001'),
    // The first four bills are credits, so that the later debits have a balance to take from.
    type: i < 4 || i % 50 < 2 ? 'DEPOSIT' : (types[i % types.length] ?? 'DEPOSIT'),
    reference: `bench-${i}`,
  }) as const

/** Measures what a page of bills costs with each filter, in a wallet with `size` bills. */
export async function measureBills(size: number): Promise<Row[]> {
  // One user for each wallet size, so that the bills for different sizes do not share a wallet.
  const userId = size
  await loadBills(userId, size)
  const rows: Row[] = []
  for (const [filter, query] of Object.entries(filters))
    for (const [period, dates] of Object.entries(periods)) {
      const read = (current: number) =>
        measureInRounds(async () => {
          const whole = { ...query, ...dates, current, size: 20 }
          return readBillsPage(whole, { userId, wallet: 'asset' })
        })
      const first = await read(1)
      const middle = await read(Math.max(1, Math.ceil(first.result.pages / 2)))
      rows.push({
        bills: `${size.toLocaleString('en-US')}, ${filter}, ${period}`,
        found: first.result.total,
        rounds: Math.max(first.rounds, middle.rounds),
        'read units': Math.max(first.readUnits, middle.readUnits),
      })
    }
  return rows
}

/** Exports as CSV, because that takes longer than JSON. */
const csvRequest = { header: () => 'text/csv' } as unknown as RequestInfo

/** Measures what an export of bills costs with each filter, in the wallet that measureBills has filled. */
export async function measureExports(size: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const [filter, query] of Object.entries(filters)) {
    const startedAt = performance.now()
    const { result, rounds, readUnits } = await measureInRounds(async () => {
      const found = await exportBills(await selectBills(query, { userId: size, wallet: 'asset' }))
      const csv = { fileName: 'bills.csv', columns: v.keyof(Bill).options }
      answerExport(found, csvRequest, csv)
      return found
    })
    rows.push({
      export: `${size.toLocaleString('en-US')}, ${filter}`,
      found: result.total,
      exported: result.records.length,
      rounds,
      'read units': readUnits,
      milliseconds: Math.round(performance.now() - startedAt),
    })
  }
  return rows
}

/**
 * Writes a wallet with `size` bills and its index, directly into the table. Writes fewer if the instant
 * `until` (epoch milliseconds) comes first. Resolves with the number of bills.
 */
export async function loadBills(userId: number, size: number, until = Infinity): Promise<number> {
  const step = Math.floor(years / size)
  let wallet: Wallet = { ...newWallet({ userId, wallet: 'asset' }), version: 1 }
  const pending: Write[] = []
  const chunks: Chunk[] = []
  const write = async () => {
    await writeChunks(wallet, chunks.splice(0))
    await writeAll(pending.splice(0))
  }
  let count = 0
  for (let i = 0; i < size && Date.now() < until; i += 1) {
    count += 1
    const at = firstAt + i * step
    const moved = applyMovement(wallet, postingOf(i), at, at)
    if (moved.rejection !== undefined) throw new Error(moved.rejection)
    const taken = takeChunk(moved.wallet)
    wallet = taken?.rest ?? moved.wallet
    if (taken !== undefined) chunks.push(taken.chunk)
    if (moved.bill !== undefined) pending.push(putBill(moved.bill))
    if (pending.length >= 4_096) await write()
  }
  pending.push(putWallet(wallet))
  await write()
  return count
}

async function writeAll(writes: readonly Write[]): Promise<void> {
  const starts = Array.from({ length: Math.ceil(writes.length / 25) }, (_, i) => 25 * i)
  await forEachConcurrently(starts, 8, async (start) => {
    const requests = writes.slice(start, start + 25).map(({ Put }) => ({ PutRequest: { Item: Put?.Item } }))
    const { UnprocessedItems: left } = await db.send(
      new BatchWriteCommand({ RequestItems: { [tableName()]: requests } }),
    )
    for (const { PutRequest } of left?.[tableName()] ?? [])
      await db.send(new PutCommand({ TableName: tableName(), Item: PutRequest?.Item }))
  })
}
