import * as v from 'valibot'
import { notedInstants } from '../../../shared/db/exact-sum.ts'
import type { Partition } from '../../../shared/db/partitions.ts'
import { Integer, type Item } from '../../../shared/db/table.ts'
import { deviceInstants } from '../../../shared/dashboard/record-events.ts'
import { walletIdOf, walletKey, walletPath } from '../../../shared/ledger/wallet.ts'
import { formatTable } from '../terminal.ts'
import { planRepairs } from './plan-mend.ts'
import { isCounted } from './undone-events.ts'

/** A transaction of which only a part is there. */
export interface Torn {
  /** Instant of the transaction, ISO 8601; null if nothing tells it. */
  at: string | null
  what: string
  expected: string
  actual: string
}

const number = (item: Item, attribute: string): number => v.parse(v.nullish(Integer), item[attribute]) ?? 0

/**
 * Finds the transactions of which only a part is there, given everything that was written at an instant
 * (epoch milliseconds) or later. All items of a transaction have its instant, and keep it when a later one
 * overwrites them, but for wallets. The record of an event, and the status of a deposit, tell how many items
 * the transaction wrote.
 */
export function findTorn(found: ReadonlyMap<Partition, Item[]>, since: number): Torn[] {
  const of = (partition: Partition) => found.get(partition) ?? []
  const isCredit = (row: Item) => row['type'] === 'DEPOSIT'
  const rows = of('BL#')
  const instants = [
    ...rows.filter((row) => !isCredit(row)).map((row) => number(row, 'created_at')),
    ...of('WD#').flatMap(withdrawalInstants),
    ...[...of('EARN#'), ...of('MEMBER#')].flatMap(notedInstants),
    ...of('DEVICE#').flatMap(deviceInstants),
  ]
  const written = new Counts()
  for (const at of instants) if (at >= since) written.add(at, 1)
  const recorded = new Counts()
  for (const record of of('EVT#').filter(isCounted))
    recorded.add(number(record, 'applied_at'), number(record, 'items'))
  const listed = new Set(of('W#').flatMap((item) => (item['tail'] === undefined ? [item['pk']] : [])))
  const rowsOf = (userId: number) => (listed.has(walletKey({ userId, wallet: 'asset' }).pk) ? 6 : 1)
  const credited = new Counts()
  for (const deposit of of('DEP#'))
    if (number(deposit, 'credited_at') >= since)
      credited.add(number(deposit, 'credited_at'), rowsOf(number(deposit, 'user_id')))
  const credits = new Counts()
  for (const row of rows.filter(isCredit)) credits.add(number(row, 'created_at'), 1)
  return [
    ...recorded.differences(written, 'items of events'),
    ...credited.differences(credits, 'rows of credits'),
    ...tornDeposits(of('DEP#'), of('DL#'), since),
    ...tornWallets(of('W#'), rows, of('WD#'), since),
  ].map(({ at, ...rest }) => ({ at: new Date(at).toISOString(), ...rest }))
}

/** The instants of the transactions that wrote a withdrawal: its request, and what came of it. */
const withdrawalInstants = (item: Item): number[] => [
  number(item, 'requested_at'),
  ...(item['status'] === 'requested' ? [] : [number(item, 'changed_at')]),
]

/**
 * Finds what else is not whole: the items that a mend would repair (planRepairs), and records of events whose
 * client or rates are not there. Of an update of a user, only a part that shows in another item is found.
 */
export async function findUnsound(found: ReadonlyMap<Partition, Item[]>, since: number): Promise<Torn[]> {
  const repairs = (await planRepairs(found, since)).map(({ before, after }) => {
    const { pk, sk } = before ?? after ?? {}
    const expected = after === undefined ? 'none' : before === undefined ? 'there' : 'other content'
    const actual = before === undefined ? 'none' : 'there'
    return { at: null, what: `${String(pk)} ${String(sk)}`, expected, actual }
  })
  return [...repairs, ...lostEffects(found)]
}

/** Records of clients and of rates that are newer than the client or the rates. */
function lostEffects(found: ReadonlyMap<Partition, Item[]>): Torn[] {
  const of = (partition: Partition) => found.get(partition) ?? []
  const known = new Map([
    ...of('CLIENT#').map((item) => [String(item['pk']), number(item, 'updated_at')] as const),
    ...of('RATES').map((item) => [`RATES#${String(item['sk'])}`, number(item, 'as_of')] as const),
  ])
  return of('EVT#').flatMap(({ pk, applied_at }) => {
    const [, type, id, instant] =
      /^EVT#(client\.registered|rates\.published)#(.*)#(\d+)$/.exec(String(pk)) ?? []
    if (type === undefined) return []
    const what = `${type === 'rates.published' ? 'RATES' : 'CLIENT'}#${id ?? ''}`
    const at = new Date(v.parse(Integer, applied_at)).toISOString()
    const there = known.get(what) ?? 0
    return there >= Number(instant)
      ? []
      : [{ at, what, expected: toText(Number(instant)), actual: toText(there) }]
  })
}

type Difference = Omit<Torn, 'at'> & { at: number }

/** Numbers of items by instant. */
class Counts {
  private readonly counts = new Map<number, number>()

  add(at: number, count: number): void {
    this.counts.set(at, this.of(at) + count)
  }

  of(at: number): number {
    return this.counts.get(at) ?? 0
  }

  /** The instants at which the actual number of items is not this one. */
  differences(actual: Counts, what: string): Difference[] {
    const instants = [...new Set([...this.counts.keys(), ...actual.counts.keys()])]
    return instants.flatMap((at) => compare(at, what, String(this.of(at)), String(actual.of(at))))
  }
}

/** Deposits whose three items are not the same version, or that the numbers of their user do not count. */
function tornDeposits(deposits: readonly Item[], found: readonly Item[], since: number): Difference[] {
  const [heads, rows] = [found.filter(({ sk }) => sk === 'HEAD'), found.filter(({ sk }) => sk !== 'HEAD')]
  const copies = Map.groupBy([...deposits, ...rows], ({ id }) => String(id))
  const differences = [...copies].flatMap(([id, items]) => {
    const at = Math.max(...items.map((item) => number(item, 'changed_at')))
    const newest = items.filter((item) => number(item, 'changed_at') === at).length
    return compare(at, `items of deposit ${id}`, '3', String(newest))
  })
  const counted = [...deposits, ...rows].map((item) => ({
    list: `DL#${number(item, 'user_id')}`,
    at: number(item, 'created_at'),
  }))
  const last = new Map(heads.map((head) => [String(head['pk']), number(head, 'last_at')]))
  return [...differences, ...behind(counted, last, 'newest deposit in', since)]
}

/** Wallets that are older or newer than their bills and withdrawals. */
function tornWallets(
  wallets: readonly Item[],
  rows: readonly Item[],
  withdrawals: readonly Item[],
  since: number,
): Difference[] {
  const moved = [
    ...rows.map((row) => ({ list: walletPath(walletIdOf(row)), at: number(row, 'created_at') })),
    ...withdrawals.flatMap((item) => {
      const list = walletPath({ userId: number(item, 'user_id'), wallet: 'asset' })
      const isVoid = item['status'] === 'cancelled' && item['requested_at'] === undefined
      const instants = [number(item, 'requested_at'), ...(isVoid ? [] : [number(item, 'changed_at')])]
      return instants.map((at) => ({ list, at }))
    }),
  ]
  const last = new Map(wallets.map((item) => [walletPath(walletIdOf(item)), number(item, 'last_at')]))
  return behind(moved, last, 'last movement of', since)
}

/** What has another newest instant than the newest of its entries. */
function behind(
  entries: readonly { list: string; at: number }[],
  last: ReadonlyMap<string, number>,
  what: string,
  since: number,
): Difference[] {
  const newest = new Map<string, number>()
  for (const { list, at } of entries) newest.set(list, Math.max(at, newest.get(list) ?? 0))
  return [...new Set([...newest.keys(), ...last.keys()])].flatMap((list) => {
    const [expected, actual] = [newest.get(list) ?? 0, last.get(list) ?? 0]
    const at = Math.max(expected, actual)
    return at < since ? [] : compare(at, `${what} ${list}`, toText(expected), toText(actual))
  })
}

const toText = (at: number): string => (at === 0 ? 'none' : new Date(at).toISOString())

const compare = (at: number, what: string, expected: string, actual: string): Difference[] =>
  expected === actual ? [] : [{ at, what, expected, actual }]

/** Formats torn transactions as text. */
export function formatTorn(torn: readonly Torn[]): string {
  if (torn.length === 0) return 'no torn transaction'
  const rows = torn.map(({ at, what, expected, actual }) => [at ?? '-', what, expected, actual])
  return `${formatTable(['INSTANT', 'WHAT', 'EXPECTED', 'THERE'], rows)}\n${torn.length} differences`
}
