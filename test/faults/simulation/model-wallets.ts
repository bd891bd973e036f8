import Big from 'big.js'
import type { Wallet } from './events.ts'
import { type Accepted, acceptedOf, mayBeFirst, type SimulationRecord } from './record.ts'
import type { Span } from './world.ts'

/** A bill as it is to be, without what its place in the list decides. */
export interface ExpectedBill {
  wallet: Wallet
  currency: string
  amount: Big
  direction: 1 | 2
  type: string
  reference: string
  remark: string | null
  /** When it may have been booked. */
  span: Span
}

/** One currency of a wallet. */
export interface Holding {
  balance: Big
  hold: Big
  deposited: Big
  withdrawal: Big
}

/** A user's money as it is to be. */
export interface UserMoney {
  bills: ExpectedBill[]
  holdings: Record<Wallet, Map<string, Holding>>
}

const zero = new Big('0')

/**
 * The money of a user. Where two events raced, `observed` decides: the references of the user's bills. It may
 * decide only what the contract leaves open.
 */
export function moneyOf(record: SimulationRecord, userId: number, observed: ReadonlySet<string>): UserMoney {
  const bills = [
    ...adjustments(record),
    ...transfers(record),
    ...rewards(record),
    ...purchases(record),
    ...deposits(record, observed),
  ]
    .filter((bill) => bill.userId === userId)
    .map((bill): ExpectedBill => bill)
  const { settled, held } = withdrawals(record, userId, observed)
  const all = [...bills, ...settled]
  const holdings = { asset: new Map<string, Holding>(), reward: new Map<string, Holding>() }
  const holdingOf = (wallet: Wallet, currency: string) => {
    const holding = holdings[wallet].get(currency) ?? {
      balance: zero,
      hold: zero,
      deposited: zero,
      withdrawal: zero,
    }
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

type UserBill = ExpectedBill & { userId: number }

const adjustments = (record: SimulationRecord): UserBill[] =>
  acceptedOf(record, 'wallet.adjusted').map(({ detail, span }) => ({
    userId: detail.user_id,
    wallet: detail.wallet,
    currency: detail.currency,
    amount: new Big(detail.amount),
    direction: detail.direction === 1 ? 1 : 2,
    type: detail.direction === 1 ? 'ADJUSTMENT_CREDIT' : 'ADJUSTMENT_DEBIT',
    reference: detail.adjustment_id,
    remark: detail.reason,
    span,
  }))

const transfers = (record: SimulationRecord): UserBill[] =>
  acceptedOf(record, 'wallet.transferred').flatMap(({ detail, span }) => {
    const { user_id: userId, currency, transfer_id: reference } = detail
    const common = { userId, currency, amount: new Big(detail.amount), reference, remark: null, span }
    return [
      { ...common, wallet: detail.from, direction: 2, type: 'TRANSFER_OUT' } as const,
      { ...common, wallet: detail.to, direction: 1, type: 'TRANSFER_IN' } as const,
    ]
  })

const rewards = (record: SimulationRecord): UserBill[] =>
  acceptedOf(record, 'reward.granted').map(({ detail, span }) => ({
    userId: detail.user_id,
    wallet: 'reward',
    currency: detail.currency,
    amount: new Big(detail.amount),
    direction: 1,
    type: 'REWARD',
    reference: detail.reward_id,
    remark: null,
    span,
  }))

const purchases = (record: SimulationRecord): UserBill[] =>
  acceptedOf(record, 'package.purchased').flatMap(({ detail, span }): UserBill[] =>
    detail.payment === undefined
      ? []
      : [
          {
            userId: detail.user_id,
            wallet: detail.payment.wallet,
            currency: detail.payment.currency,
            amount: new Big(detail.payment.amount),
            direction: 2,
            type: 'PACKAGE_PURCHASE',
            reference: detail.purchase_id,
            remark: null,
            span,
          },
        ],
  )

/** A deposit as it is to be. */
export interface ExpectedDeposit {
  userId: number
  name: string
  detail: Accepted<'deposit.updated'>['detail']
  status: 'PENDING' | 'CONFIRMING' | 'CREDITED' | 'FAILED'
  confirmations: number
  /** The event that credited it, if one did. */
  credited: Accepted<'deposit.updated'> | undefined
  events: readonly Accepted<'deposit.updated'>[]
}

/** All deposits. `observed` has the references of bills. */
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
    return {
      userId: owners.get(`${first.detail.currency_network} ${first.detail.address}`) ?? 0,
      name,
      detail: first.detail,
      status: isCredited
        ? 'CREDITED'
        : final.length > 0
          ? 'FAILED'
          : confirming
            ? 'CONFIRMING'
            : ('PENDING' as const),
      confirmations: Math.max(...events.map(({ detail }) => detail.confirmations)),
      credited: isCredited ? final.find(({ detail }) => detail.status === 'confirmed') : undefined,
      events,
    }
  })
}

const deposits = (record: SimulationRecord, observed: ReadonlySet<string>): UserBill[] =>
  depositsOf(record, observed).flatMap(({ userId, name, detail, credited }): UserBill[] =>
    credited === undefined
      ? []
      : [
          {
            userId,
            wallet: 'asset',
            currency: detail.currency,
            amount: new Big(detail.amount),
            direction: 1,
            type: 'DEPOSIT',
            reference: name,
            remark: null,
            span: credited.span,
          },
        ],
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
    if (!isSettled || settling === undefined) continue
    const { span } = settling
    const common = { wallet: 'asset', direction: 2, type: 'WITHDRAWAL', remark: null } as const
    settled.push({ ...common, currency, amount, reference, span })
  }
  return { settled, held }
}
