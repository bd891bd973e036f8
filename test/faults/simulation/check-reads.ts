import Big from 'big.js'
import type { Wallet } from './events.ts'
import { checkBills, maxClockOffset, type ShownBill } from './check-bills.ts'
import { type CheckContext, differ, type Get } from './check-context.ts'
import { communityOf, possibleNotes } from './model-community.ts'
import { devicesOf, networkRewardsOf, ratesOf, rewardsOf, sumBy, trafficOf } from './model-dashboard.ts'
import { depositsOf, type Holding, moneyOf } from './model-wallets.ts'

interface Page<T> {
  records: T[]
  total: string
  size: string
  current: string
  pages: string
}

/** Compares everything that a user can read with what is expected, and lists the differences. */
export async function checkReads(context: CheckContext): Promise<string[]> {
  const { userId, get, record } = context
  const shown = {
    asset: await getAll<ShownBill>(get, 'account/bills'),
    reward: await getAll<ShownBill>(get, 'bonus-account/bills'),
  }
  const observed = new Set(
    [...shown.asset.records, ...shown.reward.records].map(({ reference }) => reference),
  )
  const money = moneyOf(record, userId, observed)
  const parts = await Promise.all([
    checkAccounts(context, 'asset', money.holdings.asset),
    checkAccounts(context, 'reward', money.holdings.reward),
    checkBills(context, 'asset', shown.asset, money),
    checkBills(context, 'reward', shown.reward, money),
    checkDashboard(context, money.holdings),
    checkMembers(context, 'DIRECT'),
    checkMembers(context, 'COMMUNITY'),
    checkDeposits(context, observed),
  ])
  return parts.flat().map((problem) => `user ${userId}: ${problem}`)
}

/** Reads a whole list, page by page. */
export async function getAll<T>(get: Get, path: string, query = ''): Promise<Page<T>> {
  const records: T[] = []
  for (let current = 1; ; current += 1) {
    const page = (await get(path, `${query}&current=${current}&size=20`)) as Page<T>
    records.push(...page.records)
    if (current >= Number(page.pages) || current === 50) return { ...page, records }
  }
}

const zero = new Big('0')
const byName = <T>(map: Map<string, T>): [string, T][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

async function checkAccounts(
  { get, record }: CheckContext,
  wallet: Wallet,
  holdings: Map<string, Holding>,
): Promise<string[]> {
  const path = wallet === 'asset' ? 'account' : 'bonus-account'
  const negative = [...holdings].filter(([, { balance, hold }]) => balance.lt('0') || hold.lt('0'))
  const accounts = byName(holdings).map(([currency, holding]) => ({
    currency,
    balance: holding.balance.toFixed(),
    hold: holding.hold.toFixed(),
    deposited: holding.deposited.toFixed(),
    withdrawal: holding.withdrawal.toFixed(),
  }))
  const known = ratesOf(record)
  const rateOf = (currency: string) => (currency === 'USDT' ? '1' : (known?.rates[currency] ?? null))
  const assets = byName(holdings).map(([currency, { balance, hold }]) => {
    const rate = rateOf(currency)
    const value = rate === null ? null : balance.plus(hold).times(rate)
    return { currency, balance, hold, rate, value }
  })
  const sum = (of: 'balance' | 'hold') =>
    assets.reduce(
      (total, asset) => (asset.rate === null ? total : total.plus(asset[of].times(asset.rate))),
      zero,
    )
  const summary = {
    currency: 'USDT',
    total: sum('balance').plus(sum('hold')).toFixed(),
    balance: sum('balance').toFixed(),
    hold: sum('hold').toFixed(),
    rates_at: known === undefined ? null : String(known.asOf),
    assets: assets.map(({ currency, balance, hold, rate, value }) => ({
      currency,
      balance: balance.toFixed(),
      hold: hold.toFixed(),
      rate: rate === null ? null : new Big(rate).toFixed(),
      value: value?.toFixed() ?? null,
    })),
  }
  return [
    ...negative.map(([currency]) => `${wallet} ${currency} is negative by the events that took effect`),
    ...differ(`${path}/info`, await get(`${path}/info`), accounts),
    ...differ(`${path}/asset`, await get(`${path}/asset`), summary),
  ]
}

async function checkDashboard(
  { get, record, userId, now }: CheckContext,
  holdings: Record<Wallet, Map<string, Holding>>,
): Promise<string[]> {
  const rewards = rewardsOf(record, userId)
  const balanceOf = (wallet: Wallet, currency: string) => holdings[wallet].get(currency)?.balance ?? zero
  const currencies = [...new Set([...holdings.asset.keys(), ...holdings.reward.keys()])].sort()
  const earned = (of: typeof rewards) =>
    [...sumBy(of, ({ currency }) => currency)].map(([currency, amount]) => ({
      currency,
      amount: amount.toFixed(),
    }))
  const dayBefore = (days: number) => new Date(now - days * 86_400_000).toISOString().slice(0, 10)
  const overview = {
    devices: String(devicesOf(record, userId)),
    traffic_gb: trafficOf(record, userId).times('0.000000001').toFixed(),
    balances: currencies
      .map((currency) => ({
        currency,
        balance: balanceOf('asset', currency).toFixed(),
        bonus_balance: balanceOf('reward', currency).toFixed(),
      }))
      .filter(({ balance, bonus_balance }) => balance !== '0' || bonus_balance !== '0'),
    total_earnings: earned(rewards),
    yesterday_earnings: earned(rewards.filter(({ earned_on }) => earned_on === dayBefore(1))),
  }
  const { network_rewards: total, ...shown } = (await get('dashboard/overview')) as {
    network_rewards: string
  }
  const { least, greatest } = networkRewardsOf(record, userId)
  const isPossible = new Big(total).gte(least) && new Big(total).lte(greatest)
  const byType = sumBy(rewards, (one) => JSON.stringify([one.reward_type, one.currency]))
  const types = [...byType].map(([name, amount]) => {
    const [reward_type, currency] = JSON.parse(name) as [string, string]
    return { reward_type, currency, amount: amount.toFixed() }
  })
  const days = Array.from({ length: 30 }, (_, i) => dayBefore(29 - i))
  const recent = rewards.filter(({ earned_on }) => days.includes(earned_on))
  const shownCurrencies = [...new Set(recent.map(({ currency }) => currency))].sort()
  const points = days.flatMap((date) => {
    const sums = sumBy(
      recent.filter((one) => one.earned_on === date),
      ({ currency }) => currency,
    )
    return shownCurrencies.map((currency) => ({
      date,
      currency,
      amount: (sums.get(currency) ?? zero).toFixed(),
    }))
  })
  return [
    ...differ('dashboard/overview', shown, overview),
    ...(isPossible
      ? []
      : [`network_rewards ${total} is not within ${least.toFixed()} and ${greatest.toFixed()}`]),
    ...differ('dashboard/network-rewards', await get('dashboard/network-rewards'), types),
    ...differ('dashboard/earnings', await get('dashboard/earnings'), points),
  ]
}

async function checkMembers(
  { get, record, userId, draws }: CheckContext,
  type: 'DIRECT' | 'COMMUNITY',
): Promise<string[]> {
  const stream = `check members ${userId} ${type}`
  const keyword = draws.pick(stream, [undefined, 'an', 'dee', 'user1002@example.com', '@example.org', '1003'])
  const query = `type=${type}${keyword === undefined ? '' : `&keyword=${encodeURIComponent(keyword)}`}`
  const { records, total } = await getAll<Record<string, string | null>>(get, 'community/members', query)
  const community = communityOf(record)
  const owner = community.members.find((member) => member.userId === userId)
  const listed = owner === undefined ? [] : community.find(owner, { type, keyword })
  const expected = listed.map(({ package_amount, team_performance, note, ...member }, i) => {
    const notes = note === null ? [null] : possibleNotes(record, userId, member.user_id)
    return {
      ...Object.fromEntries(Object.entries(member).map(([name, value]) => [name, String(value)])),
      package_amount: package_amount.toFixed(),
      team_performance: team_performance.toFixed(),
      note: notes.find((one) => one === records[i]?.['note']) ?? notes[0],
    }
  })
  return [
    ...differ(`community/members?${query}`, records, expected),
    ...differ(`the total of community/members?${query}`, total, String(expected.length)),
  ]
}

async function checkDeposits(
  { get, record, userId }: CheckContext,
  observed: ReadonlySet<string>,
): Promise<string[]> {
  const deposits = depositsOf(record, observed).filter((deposit) => deposit.userId === userId)
  const { records, total } = await getAll<Record<string, string | null>>(get, 'deposit/records')
  const problems = differ('the number of deposits', total, String(deposits.length))
  for (const [i, { id, created_at, credited_at, ...shown }] of records.entries()) {
    const found = deposits.find(
      ({ detail }) => detail.txid === shown['txid'] && detail.currency_network === shown['currency_network'],
    )
    if (found === undefined) {
      problems.push(`there is no deposit ${shown['txid'] ?? ''}`)
      continue
    }
    const { detail, status, confirmations, events } = found
    problems.push(
      ...differ(`deposit ${detail.txid}`, shown, {
        currency: detail.currency,
        currency_network: detail.currency_network,
        amount: new Big(detail.amount).toFixed(),
        address: detail.address,
        tag: null,
        txid: detail.txid,
        output_index: String(detail.output_index),
        occurred_at: String(Math.min(...events.map((event) => event.detail.at))),
        confirmations: String(confirmations),
        required_confirmations: '3',
        status,
      }),
      ...differ(
        `whether deposit ${detail.txid} has credited_at`,
        credited_at !== null,
        status === 'CREDITED',
      ),
      ...differ(`deposit/get/${id ?? ''}`, await get('deposit/get', '', { id: id ?? '' }), records[i]),
    )
    const earliest = Math.min(...events.map(({ span }) => span.from.at)) - maxClockOffset
    if (Number(created_at) < earliest)
      problems.push(`deposit ${detail.txid} was created before it was reported`)
    if (Number(created_at) > Number(records[i - 1]?.['created_at'] ?? Infinity))
      problems.push('deposits are not in order')
  }
  return problems
}
