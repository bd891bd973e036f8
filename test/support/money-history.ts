import { randomUUID } from 'node:crypto'
import type { UserAddress } from '../../shared/deposits/user-address.ts'
import { type Draws, openDraws } from '../faults/simulation/draws.ts'

/** An event to put on the bus. */
export interface MoneyEvent {
  detailType: string
  detail: object
}

/** Events about a user's money, each covered by those before it, and the balances after all of them. */
export interface MoneyHistory {
  events: MoneyEvent[]
  /** What the wallets hold of USDT in the end: `BALANCE HOLD DEPOSITED WITHDRAWAL`. */
  holdings: { asset: string; reward: string }
}

type WalletName = 'asset' | 'reward'

interface State {
  balance: Record<WalletName, bigint>
  hold: bigint
  deposited: bigint
  withdrawn: bigint
  /** Withdrawals that are requested, and deposits that are reported, but not final. */
  requested: { withdrawal_id: string; amount: bigint }[]
  reported: { txid: string; amount: bigint }[]
}

const at = 1_700_000_000_000

/**
 * Draws a valid history of `length` events of a user with a deposit address; the seed determines it. Its
 * transfers go one way, to the reward wallet for an even seed: what goes back and forth cannot be applied in
 * every order (see infra/DECISIONS.md, "What a later event can make good").
 */
export function drawMoneyHistory(
  seed: number,
  length: number,
  { userId, address }: { userId: number; address: UserAddress },
): MoneyHistory {
  const draws = openDraws(seed)
  const state: State = {
    balance: { asset: 0n, reward: 0n },
    hold: 0n,
    deposited: 0n,
    withdrawn: 0n,
    requested: [],
    reported: [],
  }
  const common = { user_id: userId, currency: 'USDT', at }
  const events: MoneyEvent[] = []
  const unused = seed % 2 === 0 ? 'transfer to asset' : 'transfer to reward'
  const usable = Object.entries(kinds).flatMap(([name, kind]) => (name === unused ? [] : [kind]))
  while (events.length < length) {
    const draw = draws.pick('kind', usable)
    const event = draw({ draws, state, common, address })
    if (event !== undefined) events.push(event)
  }
  const { balance, hold, deposited, withdrawn } = state
  return {
    events,
    holdings: {
      asset: `${balance.asset} ${hold} ${deposited} ${withdrawn}`,
      reward: `${balance.reward} 0 0 0`,
    },
  }
}

interface Source {
  draws: Draws
  state: State
  common: { user_id: number; currency: string; at: number }
  address: UserAddress
}

const drawCredit = (draws: Draws): bigint => BigInt(1 + draws.below('credit', 9))

/** What a debit takes: often all that there is, so that the next one needs what comes between. */
function drawDebit(draws: Draws, balance: bigint): bigint | undefined {
  if (balance === 0n) return undefined
  return draws.happens('all', 0.6) ? balance : BigInt(1 + draws.below('debit', Number(balance)))
}

function adjust({ draws, state, common }: Source, direction: 1 | 2): MoneyEvent | undefined {
  const wallet = draws.pick('wallet', ['asset', 'reward'] as const)
  const amount = direction === 1 ? drawCredit(draws) : drawDebit(draws, state.balance[wallet])
  if (amount === undefined) return undefined
  state.balance[wallet] += direction === 1 ? amount : -amount
  const detail = { adjustment_id: randomUUID(), ...common, wallet, direction, reason: 'test' }
  return { detailType: 'wallet.adjusted', detail: { ...detail, amount: String(amount) } }
}

function transfer({ draws, state, common }: Source, from: WalletName): MoneyEvent | undefined {
  const amount = drawDebit(draws, state.balance[from])
  if (amount === undefined) return undefined
  const to = from === 'asset' ? 'reward' : 'asset'
  state.balance[from] -= amount
  state.balance[to] += amount
  const detail = { transfer_id: randomUUID(), ...common, from, to, amount: String(amount) }
  return { detailType: 'wallet.transferred', detail }
}

const report = (
  { address, common }: Source,
  { txid, amount }: { txid: string; amount: bigint },
  status: string,
): MoneyEvent => ({
  detailType: 'deposit.updated',
  detail: {
    currency_network: address.currency_network,
    txid,
    output_index: 0,
    address: address.address,
    currency: common.currency,
    amount: String(amount),
    status,
    confirmations: status === 'confirmed' ? 12 : 1,
    at,
  },
})

const withdrawal = (
  { common }: Source,
  { withdrawal_id, amount }: { withdrawal_id: string; amount: bigint },
  status: string,
): MoneyEvent => ({
  detailType: 'withdrawal.updated',
  detail: { withdrawal_id, ...common, amount: String(amount), status },
})

/** Takes one of the items that are not final yet; undefined if there is none. */
const take = <T>(draws: Draws, items: T[]): T | undefined =>
  items.length === 0 ? undefined : items.splice(draws.below('taken', items.length), 1)[0]

/** The thirteen kinds of events that touch money. Each returns undefined if nothing covers it. */
const kinds: Record<string, (source: Source) => MoneyEvent | undefined> = {
  credit: (source) => adjust(source, 1),
  debit: (source) => adjust(source, 2),
  'transfer to reward': (source) => transfer(source, 'asset'),
  'transfer to asset': (source) => transfer(source, 'reward'),
  reward({ draws, state, common: { user_id, currency } }) {
    const amount = drawCredit(draws)
    state.balance.reward += amount
    const detail = { reward_id: randomUUID(), user_id, currency, reward_type: 'referral' }
    return {
      detailType: 'reward.granted',
      detail: { ...detail, amount: String(amount), earned_on: '2026-01-01' },
    }
  },
  purchase({ draws, state, common: { user_id, currency } }) {
    const wallet = draws.pick('payer', ['asset', 'reward'] as const)
    const amount = drawDebit(draws, state.balance[wallet])
    if (amount === undefined) return undefined
    state.balance[wallet] -= amount
    const payment = { wallet, currency, amount: String(amount) }
    return {
      detailType: 'package.purchased',
      detail: { purchase_id: randomUUID(), user_id, amount: '1', at, payment },
    }
  },
  'deposit pending'(source) {
    const deposit = { txid: randomUUID(), amount: drawCredit(source.draws) }
    source.state.reported.push(deposit)
    return report(source, deposit, 'pending')
  },
  'deposit confirming'(source) {
    const deposit = take(source.draws, source.state.reported)
    if (deposit === undefined) return undefined
    source.state.reported.push(deposit)
    return report(source, deposit, 'confirming')
  },
  'deposit confirmed'(source) {
    const deposit = take(source.draws, source.state.reported)
    if (deposit === undefined) return undefined
    source.state.balance.asset += deposit.amount
    source.state.deposited += deposit.amount
    return report(source, deposit, 'confirmed')
  },
  'deposit failed'(source) {
    const deposit = take(source.draws, source.state.reported)
    return deposit && report(source, deposit, 'failed')
  },
  'withdrawal requested'(source) {
    const { draws, state } = source
    const amount = drawDebit(draws, state.balance.asset)
    if (amount === undefined) return undefined
    state.balance.asset -= amount
    state.hold += amount
    const request = { withdrawal_id: randomUUID(), amount }
    state.requested.push(request)
    return withdrawal(source, request, 'requested')
  },
  'withdrawal settled'(source) {
    const request = take(source.draws, source.state.requested)
    if (request === undefined) return undefined
    source.state.hold -= request.amount
    source.state.withdrawn += request.amount
    return withdrawal(source, request, 'settled')
  },
  'withdrawal cancelled'(source) {
    const request = take(source.draws, source.state.requested)
    if (request === undefined) return undefined
    source.state.hold -= request.amount
    source.state.balance.asset += request.amount
    return withdrawal(source, request, 'cancelled')
  },
}
