import * as v from 'valibot'
import { queryItems, readItem, readItems } from '../db/read.ts'
import { Integer, type Item } from '../db/table.ts'
import type { Change } from '../db/write.ts'
import { countItem, countKey, type Deposit, depositItems, listName, toDeposit } from './deposit.ts'

/**
 * The changes that take deposits back to an instant (epoch milliseconds), given the items of deposits that
 * were changed since then. A deposit that came since is removed. One that was credited since is not credited
 * any more: its event credits it again. Of one that only advanced, all three items get the newest state that
 * one of them has, because no money moved.
 */
export async function undoDeposits(found: readonly Item[], since: number): Promise<Change[]> {
  const deposits = new Map(
    found.flatMap((item) => {
      if (item['id'] === undefined) return []
      const deposit = toDeposit(item)
      return [[deposit.record.id, deposit] as const]
    }),
  )
  const changes = await Promise.all([...deposits.values()].map((deposit) => undoDeposit(deposit, since)))
  const heads = found.filter(({ sk }) => sk === 'HEAD').map(({ pk }) => Number(String(pk).split('#')[1]))
  const users = new Set([...[...deposits.values()].map(({ userId }) => userId), ...heads])
  const counts = await Promise.all([...users].map((userId) => undoCount(userId, since)))
  return [...changes.flat(), ...counts.flat()]
}

const changedAtOf = (item: Item): number => v.parse(v.optional(Integer), item['changed_at']) ?? 0

async function undoDeposit(known: Deposit, since: number): Promise<Change[]> {
  const stored = await readItems(depositItems(known, 0), { consistent: true })
  const copies = stored.flatMap((item) => (item === undefined ? [] : [item]))
  if (known.record.created_at >= since) return copies.map((before) => ({ before, after: undefined }))
  const newest = copies.reduce((one, other) =>
    toDeposit(other).version > toDeposit(one).version ? other : one,
  )
  const deposit = toDeposit(newest)
  const { credited_at } = deposit.record
  const isUndone = credited_at !== null && credited_at >= since
  const record = isUndone
    ? { ...deposit.record, status: 'CONFIRMING' as const, credited_at: null }
    : deposit.record
  const isWhole =
    copies.length === stored.length && copies.every((copy) => toDeposit(copy).version === deposit.version)
  if (isWhole && !isUndone) return []
  const after = depositItems({ ...deposit, record }, isUndone ? since - 1 : changedAtOf(newest))
  return after.map((item, i) => ({ before: stored[i], after: item }))
}

/** The change of the numbers of a user's deposits to those that came before an instant. */
async function undoCount(userId: number, since: number): Promise<Change[]> {
  const before = await readItem(countKey(userId), { consistent: true })
  const newest = async (currency?: string): Promise<Deposit | undefined> => {
    const rows = queryItems({
      KeyConditionExpression: 'pk = :list',
      ExpressionAttributeValues: { ':list': listName(userId, currency) },
      ScanIndexForward: false,
      ConsistentRead: true,
    })
    for await (const row of rows) {
      const deposit = toDeposit(row)
      if (deposit.record.created_at < since) return deposit
    }
    return undefined
  }
  const byCurrency = new Map<string, number>()
  for (const currency of Object.keys(before?.['counts'] ?? {})) {
    const last = await newest(currency)
    if (last !== undefined) byCurrency.set(currency, last.currencyOrdinal)
  }
  const lastAt = (await newest())?.record.created_at ?? 0
  const after = byCurrency.size === 0 ? undefined : countItem({ userId, lastAt, byCurrency })
  const total = v.parse(v.optional(Integer), before?.['total'])
  return total === after?.['total'] ? [] : [{ before, after }]
}
