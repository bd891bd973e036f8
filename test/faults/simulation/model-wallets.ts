import Big from 'big.js'
import type { Details, Wallet } from './events.ts'
import { type Accepted, acceptedOf, mayBeFirst, type SimulationRecord } from './record.ts'
import type { Span } from './world.ts'

/** An expected bill, without the balance after the bill. That balance depends on earlier bills, too. */
export interface ExpectedBill {
  wallet: Wallet
  currency: string
  amount: Big
  direction: 1 | 2
  type: string
  reference: string
  remark: string | null
  /** The instant that the event states, epoch milliseconds. */
  occurredAt: number
  span: Span
}

/** A wallet's amounts in one currency. */
export interface Holding {
  balance: Big
  hold: Big
  deposited: Big
  withdrawal: Big
}

/** The bills and balances that a user should have. */
export interface UserMoney {
  bills: ExpectedBill[]
  holdings: Record<Wallet, Map<string, Holding>>
}

const zero = new Big('0')

/** The types of events for which `postingsOf` returns balance changes. */
export const postingTypes = [
  'wallet.adjusted',
  'wallet.transferred',
  'reward.granted',
  'package.purchased',
] as const

/**
 * The bills and balances that a user should have. `observed` holds the references of the user's actual bills.
 * They show which of two simultaneous events took effect first.
 */
export function moneyOf(record: SimulationRecord, userId: number, observed: ReadonlySet<string>): UserMoney {
  const posted = acceptedOf(record, ...postingTypes).flatMap((event) =>
    postingsOf(event).map((posting) => ({ ...posting, span: event.span })),
  )
  const bills = [...posted, ...deposits(record, observed)].filter((bill) => bill.userId === userId)
  const { settled, held } = withdrawals(record, userId, observed)
  const all = [...bills, ...settled]
  const holdings = { asset: new Map<string, Holding>(), reward: new Map<string, Holding>() }
  const holdingOf = (wallet: Wallet, currency: string) => {
    const none = { balance: zero, hold: zero, deposited: zero, withdrawal: zero }
    const holding = holdings[wallet].get(currency) ?? none
    holdings[wallet].set(currency, holding)
    return holding
  }
  for (const { wallet, currency, amount, direction, type } of all) {
    const holding = holdingOf(wallet, currency)
    holding.balance = direction === 1 ? holding.balance.plus(amount) : holding.balance.minus(amount)
    if (type === 'DEPOSIT') holding.deposited = holding.deposited.plus(amount)
    if (type === 'WITHDRAWAL') holding.withdrawal = holding.withdrawal.plus(amount)
  }
  for (const { currency, amount } of held) {
    const holding = holdingOf('asset', currency)
    holding.balance = holding.balance.minus(amount)
    holding.hold = holding.hold.plus(amount)
  }
  return { bills: all, holdings }
}

/** The bill that an event creates for one change of a balance. */
export type Posting = Omit<ExpectedBill, 'span'> & { userId: number }

const post = (
  posting: Omit<Posting, 'amount' | 'remark'> & { amount: string; remark?: string },
): Posting => ({ remark: null, ...posting, amount: new Big(posting.amount) })

/** Balance changes of one event. None for deposits and withdrawals, because they depend on several events. */
export function postingsOf({ type, detail }: { type: string; detail: object }): Posting[] {
  switch (type) {
    case 'wallet.adjusted': {
      const { user_id: userId, direction, ...event } = detail as Details['wallet.adjusted']
      const { wallet, currency, amount, reason: remark, adjustment_id: reference, at: occurredAt } = event
      const common = { userId, wallet, currency, amount, reference, remark, occurredAt }
      return direction === 1
        ? [post({ ...common, direction, type: 'ADJUSTMENT_CREDIT' })]
        : [post({ ...common, direction: 2, type: 'ADJUSTMENT_DEBIT' })]
    }
    case 'wallet.transferred': {
      const { user_id: userId, from, to, ...event } = detail as Details['wallet.transferred']
      const { currency, amount, transfer_id: reference, at: occurredAt } = event
      const common = { userId, currency, amount, reference, occurredAt }
      return [
        post({ ...common, wallet: from, direction: 2, type: 'TRANSFER_OUT' }),
        post({ ...common, wallet: to, direction: 1, type: 'TRANSFER_IN' }),
      ]
    }
    case 'reward.granted': {
      const { user_id: userId, currency, amount, reward_id, earned_on } = detail as Details['reward.granted']
      const occurredAt = Date.parse(earned_on)
      const common = { userId, currency, amount, reference: reward_id, occurredAt }
      return [post({ ...common, wallet: 'reward', direction: 1, type: 'REWARD' })]
    }
    case 'package.purchased': {
      const { user_id: userId, payment, purchase_id, at: occurredAt } = detail as Details['package.purchased']
      if (payment === undefined) return []
      const common = { ...payment, userId, reference: purchase_id, occurredAt }
      return [post({ ...common, direction: 2, type: 'PACKAGE_PURCHASE' })]
    }
    default:
      return []
  }
}

/** A deposit that a user should have. */
export interface ExpectedDeposit {
  userId: number
  name: string
  detail: Accepted<'deposit.updated'>['detail']
  status: 'PENDING' | 'CONFIRMING' | 'CREDITED' | 'FAILED'
  confirmations: number
  /** The event that credited the deposit, if there is one. */
  credited: Accepted<'deposit.updated'> | undefined
  events: readonly Accepted<'deposit.updated'>[]
}

/** Expected deposits. `observed` decides if a deposit was confirmed and failed at the same time. */
export function depositsOf(record: SimulationRecord, observed: ReadonlySet<string>): ExpectedDeposit[] {
  const owners = new Map(
    record.addresses.map(({ request, answer }) => [
      `${request.network} ${answer.address ?? ''}`,
      request.userId,
    ]),
  )
  const byName = Map.groupBy(
    acceptedOf(record, 'deposit.updated'),
    ({ detail }) => `${detail.currency_network}:${detail.txid}:${detail.output_index}`,
  )
  return [...byName].map(([name, events]) => {
    const [first] = events as [Accepted<'deposit.updated'>, ...unknown[]]
    const final = mayBeFirst(
      events.filter(({ detail: { status } }) => ['confirmed', 'failed'].includes(status)),
    )
    const statuses = new Set(final.map(({ detail }) => detail.status))
    const isCredited = statuses.has('confirmed') && (statuses.size === 1 || observed.has(name))
    const confirming = events.some(({ detail }) => detail.status === 'confirming')
    const failed = final.find(({ detail }) => detail.status === 'failed')
    return {
      userId: owners.get(`${first.detail.currency_network} ${first.detail.address}`) ?? 0,
      name,
      detail: first.detail,
      status: isCredited ? 'CREDITED' : final.length > 0 ? 'FAILED' : confirming ? 'CONFIRMING' : 'PENDING',
      confirmations:
        isCredited || failed === undefined
          ? Math.max(...events.map(({ detail }) => detail.confirmations))
          : failed.detail.confirmations,
      credited: isCredited ? final.find(({ detail }) => detail.status === 'confirmed') : undefined,
      events,
    }
  })
}

const deposits = (record: SimulationRecord, observed: ReadonlySet<string>) =>
  depositsOf(record, observed).flatMap(
    ({ userId, name: reference, detail: { currency, amount }, credited }) => {
      if (credited === undefined) return []
      const bill = {
        userId,
        wallet: 'asset',
        currency,
        amount,
        direction: 1,
        type: 'DEPOSIT',
        reference,
        occurredAt: credited.detail.at,
      } as const
      return [{ ...post(bill), span: credited.span }]
    },
  )

function withdrawals(record: SimulationRecord, userId: number, observed: ReadonlySet<string>) {
  const settled: ExpectedBill[] = []
  const held: { currency: string; amount: Big }[] = []
  const byId = Map.groupBy(
    acceptedOf(record, 'withdrawal.updated').filter(({ detail }) => detail.user_id === userId),
    ({ detail }) => detail.withdrawal_id,
  )
  for (const [reference, events] of byId) {
    const final = mayBeFirst(events.filter(({ detail }) => detail.status !== 'requested'))
    const statuses = new Set(final.map(({ detail }) => detail.status))
    const isSettled = statuses.has('settled') && (statuses.size === 1 || observed.has(reference))
    const [{ detail }] = events as [Accepted<'withdrawal.updated'>]
    const { currency } = detail
    const amount = new Big(detail.amount)
    if (final.length === 0) held.push({ currency, amount })
    const settling = final.find((event) => event.detail.status === 'settled')
    const common = { wallet: 'asset', direction: 2, type: 'WITHDRAWAL', remark: null } as const
    if (isSettled && settling !== undefined)
      settled.push({
        ...common,
        currency,
        amount,
        reference,
        occurredAt: settling.detail.at,
        span: settling.span,
      })
  }
  return { settled, held }
}
