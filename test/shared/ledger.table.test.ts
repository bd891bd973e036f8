import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { handler as rewardGranted } from '../../functions/intake/reward.granted.ts'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../functions/intake/wallet.transferred.ts'
import { handler as withdrawalUpdated } from '../../functions/intake/withdrawal.updated.ts'
import type { Intake } from '../../shared/events/intake.ts'
import type { Bill } from '../../shared/ledger/bill.ts'
import { readWallet, type Wallet, type WalletName } from '../../shared/ledger/wallet.ts'
import { type Big, zero } from '../../shared/money.ts'
import { deliver, interceptQueues } from '../support/deliver.ts'
import { addUser, describeWallet, readPage } from '../support/ledger.ts'
import { type LedgerEvent, LedgerModel } from '../support/ledger-model.ts'

const runs = Number(process.env['RUNS'] ?? 120)
/** Number of random histories that are checked at the same time, each with its own user. */
const lanes = 5

const handlers: Record<LedgerEvent['type'], Intake> = {
  'wallet.adjusted': walletAdjusted,
  'wallet.transferred': walletTransferred,
  'reward.granted': rewardGranted,
  'withdrawal.updated': withdrawalUpdated,
}

const wallets: WalletName[] = ['asset', 'reward']
const wallet = fc.constantFrom(...wallets)
const currency = fc.constantFrom('USDT', 'BTC')
const amount = fc.constantFrom(
  '1',
  '0.5',
  '2.000000000000000001',
  '99999999999999999999.999999999999999999',
  '100',
)
/** There are few business keys, so that many events repeat an earlier key, with the same or other content. */
const key = fc.nat({ max: 4 })

const event: fc.Arbitrary<LedgerEvent> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('wallet.adjusted' as const),
      key,
      wallet,
      currency,
      amount,
      direction: fc.constantFrom(1 as const, 1 as const, 2 as const),
    }),
  },
  fc.record({ type: fc.constant('wallet.transferred' as const), key, from: wallet, currency, amount }),
  fc.record({ type: fc.constant('reward.granted' as const), key, currency, amount }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('withdrawal.updated' as const),
      key: fc.nat({ max: 1 }),
      currency: fc.constant('USDT'),
      amount: fc.constantFrom('1', '1', '1', '0.5'),
      status: fc.constantFrom('requested' as const, 'settled' as const, 'cancelled' as const),
    }),
  },
)

/** Converts a model event to the event detail that its sender would send. */
function toDetail(userId: number, sent: LedgerEvent): object {
  const common = { user_id: userId, currency: sent.currency, amount: sent.amount, at: 1_700_000_000_000 }
  const id = `${userId}-${sent.key}`
  switch (sent.type) {
    case 'wallet.adjusted':
      return { adjustment_id: id, ...common, wallet: sent.wallet, direction: sent.direction, reason: 'test' }
    case 'wallet.transferred':
      return { transfer_id: id, ...common, from: sent.from, to: sent.from === 'asset' ? 'reward' : 'asset' }
    case 'reward.granted':
      return { reward_id: id, ...common, reward_type: 'referral', earned_on: '2026-11-21' }
    case 'withdrawal.updated':
      return { withdrawal_id: id, ...common, status: sent.status }
  }
}

interface State {
  wallets: Record<WalletName, Wallet>
  /** Bills of each wallet, oldest first. */
  bills: Record<WalletName, Bill[]>
}

/** Reads the wallets and their bills; bills of a wallet that has not changed are not read again. */
async function readState(userId: number, before?: State): Promise<State> {
  const [asset, reward] = await Promise.all(
    wallets.map((name) => readWallet({ userId, wallet: name }, { consistent: true })),
  )
  const [assetBills, rewardBills] = await Promise.all(
    [asset, reward].map(async (read) => {
      const { wallet: name } = (read as Wallet).id
      const known = before?.wallets[name].version === read?.version
      return known ? before?.bills[name] : (await readPage(userId, name)).records.toReversed()
    }),
  )
  return {
    wallets: { asset: asset as Wallet, reward: reward as Wallet },
    bills: { asset: assetBills ?? [], reward: rewardBills ?? [] },
  }
}

const describeState = ({ wallets: { asset, reward }, bills }: State) => ({
  asset: describeWallet(asset),
  reward: describeWallet(reward),
  bills: [...bills.asset, ...bills.reward].map(({ id }) => id),
})

const sum = (bills: Bill[]): Big =>
  bills.reduce(
    (total, bill) => (bill.amount_direction === 1 ? total.plus(bill.amount) : total.minus(bill.amount)),
    zero,
  )

/** Checks the invariants of every wallet, which hold whatever happened before. */
function checkInvariants(state: State): void {
  for (const name of wallets) {
    for (const [code, holding] of state.wallets[name].holdings) {
      const bills = state.bills[name].filter((bill) => bill.currency === code)
      expect(holding.balance.plus(holding.hold).eq(sum(bills)), 'balance + hold = credits - debits').toBe(
        true,
      )
      expect(holding.balance.gte('0') && holding.hold.gte('0'), 'nothing is negative').toBe(true)
      bills.forEach((bill, i) => {
        expect(bill.balance_after.eq(sum(bills.slice(0, i + 1))), 'balance_after follows').toBe(true)
      })
      const ofType = (type: string) => sum(bills.filter(({ business_id }) => business_id === type)).abs()
      expect(holding.deposited.eq(ofType('DEPOSIT')), 'deposited is the sum of deposits').toBe(true)
      expect(holding.withdrawal.eq(ofType('WITHDRAWAL')), 'withdrawal is the sum of withdrawals').toBe(true)
    }
    const instants = state.bills[name].map(({ created_at }) => created_at)
    expect(instants, 'bills are in the order of time').toEqual(instants.toSorted((a, b) => a - b))
  }
}

const totalOf = ({ wallets: { asset, reward } }: State, code: string): Big =>
  [asset, reward].reduce((total, { holdings }) => {
    const held = holdings.get(code)
    return held === undefined ? total : total.plus(held.balance).plus(held.hold)
  }, zero)

function checkModel(state: State, model: LedgerModel): void {
  for (const name of wallets) {
    expect(
      state.bills[name].map(({ currency: code, business_id: type, amount: paid }) => [
        code,
        type,
        paid.toFixed(),
      ]),
    ).toEqual(
      model.bills
        .filter((bill) => bill.wallet === name)
        .map(({ currency: code, type, amount: paid }) => [code, type, paid]),
    )
  }
  for (const [name, expected] of model.holdings) {
    const [walletName, code = ''] = name.split(' ')
    const held = state.wallets[walletName as WalletName].holdings.get(code)
    expect((held?.balance ?? zero).eq(expected.balance), 'the balance is the model’s').toBe(true)
    expect((held?.hold ?? zero).eq(expected.hold), 'the hold is the model’s').toBe(true)
  }
}

async function runHistory(history: LedgerEvent[]): Promise<void> {
  const userId = await addUser()
  const model = new LedgerModel()
  let before = await readState(userId)
  for (const sent of history) {
    const [expected, billCount] = [model.apply(sent), model.bills.length]
    const delivery = await deliver(handlers[sent.type], toDetail(userId, sent))
    const after = await readState(userId, before)
    expect(typeof delivery === 'string' ? delivery : 'refused').toBe(expected)
    if (expected === 'refused') expect(describeState(after)).toEqual(describeState(before))
    if (sent.type === 'wallet.transferred') {
      expect(totalOf(after, sent.currency).eq(totalOf(before, sent.currency)), 'a transfer conserves').toBe(
        true,
      )
    }
    checkInvariants(after)
    checkModel(after, model)
    expect(billCount).toBe(after.bills.asset.length + after.bills.reward.length)
    before = after
  }
}

describe('a ledger', () => {
  beforeAll(interceptQueues)

  it(
    'the ledger keeps every invariant after every event of random histories',
    async () => {
      const lane = () =>
        fc.assert(fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 8 }), runHistory), {
          numRuns: runs / lanes,
        })
      await Promise.all(Array.from({ length: lanes }, lane))
    },
    runs * 1_500,
  )
})
