import * as v from 'valibot'
import { expect, it } from 'vitest'
import { handler as accountAsset } from '../../functions/account/asset.ts'
import { handler as accountBills } from '../../functions/account/bills.ts'
import { handler as accountInfo } from '../../functions/account/info.ts'
import { handler as members } from '../../functions/community/members.ts'
import { handler as earnings } from '../../functions/dashboard/earnings.ts'
import { handler as networkRewards } from '../../functions/dashboard/network-rewards.ts'
import { handler as overview } from '../../functions/dashboard/overview.ts'
import { handler as depositRecords } from '../../functions/deposit/records.ts'
import { handler as withdrawalRecords } from '../../functions/withdrawal/records.ts'
import { succeed } from '../../shared/http/reply.ts'
import { Big } from '../../shared/money.ts'

const money = new Big(`-${'9'.repeat(20)}.${'9'.repeat(18)}`)
const currency = 'C'.repeat(20)
const instant = 8.64e15
/** Letters with four bytes each in UTF-8. */
const letters = (count: number) => '𝒜'.repeat(count)
const list = <T>(count: number, record: T): T[] => Array.from({ length: count }, () => record)
const page = <T>(record: T) => ({ records: list(20, record), total: 1e6, size: 20, current: 1e6, pages: 1e6 })

const account = { currency, balance: money, hold: money, deposited: money, withdrawal: money }
const asset = { currency, balance: money, hold: money, rate: money, value: money.times(money) }
const bill = {
  id: `A${2 ** 53}-1000000000`,
  currency,
  amount: money,
  amount_direction: 2,
  business_id: 'ADJUSTMENT_CREDIT',
  balance_after: money,
  reference: '"'.repeat(200),
  remark: letters(500),
  created_at: instant,
  occurred_at: instant,
}
const member = {
  user_id: 2 ** 53 - 1,
  nickname: letters(100),
  email: `a***b@${letters(250)}`,
  joined_at: instant,
  level: 1e9,
  direct_count: 1e9,
  team_count: 1e9,
  package_amount: money,
  team_performance: money,
  note: letters(20),
}
const deposit = {
  id: 'f'.repeat(64),
  currency,
  currency_network: currency,
  amount: money,
  address: '"'.repeat(200),
  tag: '"'.repeat(200),
  txid: '"'.repeat(128),
  output_index: 1e15,
  confirmations: 1e15,
  required_confirmations: 1e15,
  status: 'CONFIRMING',
  created_at: instant,
  occurred_at: instant,
  credited_at: instant,
}
const withdrawal = {
  id: '"'.repeat(200),
  currency,
  amount: money,
  status: 'REQUESTED',
  created_at: instant,
  occurred_at: instant,
  settled_at: instant,
  settled_amount: money,
  fee: money,
}
const sums = { currency, total: money, balance: money, hold: money, rates_at: instant }
const amount = { currency, amount: money }
const overviewOf = (count: number) => ({
  network_rewards: money,
  devices: 2 ** 31,
  traffic_gb: money,
  balances: list(count, { currency, balance: money, bonus_balance: money }),
  total_earnings: list(count, amount),
  yesterday_earnings: list(count, amount),
})

// Lambda sends at most 6,144 KB (AWS: Lambda quotas). The export of members is cut to this size.
it.each([
  ['a page of bills', accountBills, page(bill), 62],
  ['100 currencies of a wallet', accountInfo, list(100, account), 26],
  ['the value of 100 currencies', accountAsset, { ...sums, assets: list(100, asset) }, 29],
  ['a page of members', members, page(member), 36],
  ['a page of withdrawals', withdrawalRecords, page(withdrawal), 23],
  ['a page of deposits', depositRecords, page(deposit), 53],
  ['the overview of 200 currencies', overview, overviewOf(200), 67],
  ['500 reward types', networkRewards, list(500, { ...amount, reward_type: letters(64) }), 181],
  ['20,000 earnings', earnings, list(20_000, { ...amount, date: '2026-11-23' }), 2_270],
])('the largest answer with %s is small enough for Lambda', (_what, { description }, data, kilobytes) => {
  expect(v.safeParse(description.output, data).issues).toBeUndefined()
  const sent = Buffer.byteLength(JSON.stringify(succeed(data, description.dialect))) / 1024
  expect(sent).toBeLessThan(kilobytes)
})
