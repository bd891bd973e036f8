import Big from 'big.js'
import { type CheckContext, differ } from './check-context.ts'
import type { Wallet } from './events.ts'
import type { ExpectedBill, UserMoney } from './model-wallets.ts'
import { contentOf } from './record.ts'

/** A bill as the service shows it, with numbers as text. */
export interface ShownBill {
  id: string
  currency: string
  amount: string
  amount_direction: string
  business_id: string
  balance_after: string
  reference: string
  remark: string | null
  created_at: string
  occurred_at: string
}

/** Compares a wallet's bills with the expected bills: all bills, each balance, and a filtered page. */
export async function checkBills(
  context: CheckContext,
  wallet: Wallet,
  { records, total }: { records: ShownBill[]; total: string },
  { bills }: UserMoney,
): Promise<string[]> {
  const expected = bills.filter((bill) => bill.wallet === wallet)
  const contents = (lines: readonly object[]) => lines.map(contentOf).sort()
  const shown = contents(
    records.map(({ currency, amount, amount_direction, business_id, reference, remark, occurred_at }) => {
      return { currency, amount, amount_direction, business_id, reference, remark, occurred_at }
    }),
  )
  return [
    ...differ(`the bills of the ${wallet} wallet`, shown, contents(expected.map(toShown))),
    ...differ(`the total of the ${wallet} bills`, total, String(expected.length)),
    ...checkChain(records, expected),
    ...(await checkFilter(context, wallet, records)),
  ]
}

const toShown = ({ currency, amount, direction, type, reference, remark, occurredAt }: ExpectedBill) => ({
  currency,
  amount: amount.toFixed(),
  amount_direction: String(direction),
  business_id: type,
  reference,
  remark,
  occurred_at: String(occurredAt),
})

/** The largest error of a process's clock, in milliseconds. */
export const maxClockOffset = 300_000

/** Checks that each bill follows from the previous bill, and was not booked before its event arrived. */
function checkChain(records: readonly ShownBill[], expected: readonly ExpectedBill[]): string[] {
  const sums = new Map<string, Big>()
  let last = 0
  return records.toReversed().flatMap((bill) => {
    const { id, currency, amount, amount_direction: direction, created_at: at, reference } = bill
    const before = sums.get(currency) ?? new Big('0')
    const sum = direction === '1' ? before.plus(amount) : before.minus(amount)
    sums.set(currency, sum)
    const span = expected.find((other) => other.reference === reference)?.span
    const isInOrder = Number(at) >= last
    last = Number(at)
    return [
      ...differ(`balance_after of ${id}`, bill.balance_after, sum.toFixed()),
      ...(sum.lt('0') ? [`${id} makes a negative balance`] : []),
      ...(isInOrder ? [] : [`${id} is older than the bill before it`]),
      ...(span && Number(at) < span.from.at - maxClockOffset
        ? [`${id} was booked before its event came`]
        : []),
    ]
  })
}

/** Requests a page with a random filter, and compares it with the bills that the filter selects. */
async function checkFilter(
  { get, draws, userId }: CheckContext,
  wallet: Wallet,
  records: readonly ShownBill[],
): Promise<string[]> {
  const draw = <T>(what: string, ...values: T[]) =>
    draws.pick(`check bills ${userId} ${wallet} ${what}`, values)
  const currency = draw('currency', undefined, 'USDT', 'BTC')
  const direction = draw('direction', undefined, '1', '2')
  const type = draw('type', undefined, undefined, 'REWARD', 'TRANSFER_IN', 'WITHDRAWAL')
  const days = records.map(({ created_at }) => new Date(Number(created_at)).toISOString().slice(0, 10))
  const begin = draw('begin', undefined, days[0], days.at(-1))
  const [current, size] = [draw('current', 1, 1, 2), draw('size', 1, 3, 20)]
  const selected = records.filter(
    (bill, i) =>
      (currency === undefined || bill.currency === currency) &&
      (direction === undefined || bill.amount_direction === direction) &&
      (type === undefined || bill.business_id === type) &&
      (begin === undefined || (days[i] ?? '') >= begin),
  )
  const query = new URLSearchParams({
    ...(currency !== undefined && { currency }),
    ...(direction !== undefined && { amountDirection: direction }),
    ...(type !== undefined && { businessId: type }),
    ...(begin !== undefined && { beginTime: begin }),
    current: String(current),
    size: String(size),
  }).toString()
  const path = wallet === 'asset' ? 'account/bills' : 'bonus-account/bills'
  return differ(`${path}?${query}`, await get(path, query), {
    records: selected.slice((current - 1) * size, current * size),
    total: String(selected.length),
    size: String(size),
    current: String(current),
    pages: String(Math.ceil(selected.length / size)),
  })
}
