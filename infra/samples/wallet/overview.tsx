import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api, dataOf, type Model } from './api.ts'
import { EarningsChart } from './earnings-chart.tsx'
import { type Amount, showDate, showInstant, showName, sum } from './format.ts'
import { Choice, type Columns, Table, useChoices } from './list.tsx'
import { Card, Loaded, Money } from './parts.tsx'

/** What the user holds, earns and runs, at a glance. */
export function Overview() {
  const value = useQuery({
    queryKey: ['value'],
    queryFn: () => Promise.all([dataOf(api.GET('/account/asset')), dataOf(api.GET('/bonus-account/asset'))]),
  })
  const overview = useQuery({ queryKey: ['overview'], queryFn: () => dataOf(api.GET('/dashboard/overview')) })
  const rewards = useQuery({
    queryKey: ['network-rewards'],
    queryFn: () => dataOf(api.GET('/dashboard/network-rewards')),
  })
  return (
    <>
      <h1>Overview</h1>
      <Card title="Total value" kind="hero">
        <Loaded query={value} lines={4}>
          {([asset, reward]) => (
            <div class="facts">
              <Fact amount={sum([asset.total, reward.total])} currency={asset.currency}>
                {asset.rates_at === null
                  ? 'There are no rates yet'
                  : `Rates of ${showInstant(asset.rates_at)}`}
              </Fact>
              <Fact amount={asset.total}>Asset wallet</Fact>
              <Fact amount={reward.total}>Reward wallet</Fact>
            </div>
          )}
        </Loaded>
      </Card>
      <Card title="Your network">
        <Loaded query={overview} lines={4}>
          {({ network_rewards: total, yesterday_earnings: yesterday, devices, traffic_gb: traffic }) => (
            <div class="facts">
              <Fact amount={total}>Rewards so far</Fact>
              {yesterday.map(({ currency, amount }) => (
                <Fact key={currency} amount={amount} currency={currency}>
                  Earned yesterday
                </Fact>
              ))}
              {yesterday.length === 0 && <Fact amount={0}>Earned yesterday</Fact>}
              <Fact amount={devices}>Active devices</Fact>
              <Fact amount={traffic} currency="GB">
                Traffic shared
              </Fact>
            </div>
          )}
        </Loaded>
      </Card>
      <Earnings />
      <div class="grid">
        <Card title="Rewards by type">
          <Loaded query={rewards} lines={8}>
            {(rows) => <Table name="Rewards by type" rows={rows} columns={rewardColumns} empty={noRewards} />}
          </Loaded>
        </Card>
        <Card title="Balances">
          <Loaded query={overview} lines={8}>
            {({ balances: rows }) => (
              <Table name="Balances" rows={rows} columns={balanceColumns} empty={noBalances} />
            )}
          </Loaded>
        </Card>
      </div>
    </>
  )
}

const noRewards = 'No rewards yet. Activate a device, or invite somebody.'
const noBalances = 'You hold nothing yet. Your first deposit shows up here.'
const noEarnings = 'You earned nothing in this window.'

const Fact = (props: { amount: Amount; currency?: string; children: ComponentChildren }) => (
  <p class="fact">
    <Money amount={props.amount} currency={props.currency} />
    <small>{props.children}</small>
  </p>
)

const rewardColumns: Columns<Model<'NetworkRewardVO'>> = [
  ['Type', ({ reward_type: type }) => <bdi>{showName(type)}</bdi>, 'main'],
  ['Amount', ({ amount, currency }) => <Money amount={amount} currency={currency} />, 'number'],
]

const balanceColumns: Columns<Model<'AccountBalanceVO'>> = [
  ['Currency', ({ currency }) => currency, 'main'],
  ['Assets', ({ balance }) => <Money amount={balance} />, 'number'],
  ['Rewards', ({ bonus_balance: bonus }) => <Money amount={bonus} />, 'number'],
]

/** The days of the windows that the chart offers; the service takes at most 366. */
const windows = ['30', '7', '90', '365']
const day = 86_400_000

function Earnings() {
  const length = Number(useChoices().chosen['days']) || 30
  // The window ends today in the time zone of the service, which the app does not know.
  const beginDate = new Date(Date.now() - (length - 1) * day).toISOString().slice(0, 10)
  const query = useQuery({
    queryKey: ['earnings', beginDate],
    queryFn: () => dataOf(api.GET('/dashboard/earnings', { params: { query: { beginDate } } })),
    placeholderData: (previous) => previous,
  })
  const choice = <Choice label="Window" name="days" values={windows} show={(days) => `${days} days`} />
  return (
    <Card title="Earnings by day" actions={choice}>
      <Loaded query={query} lines={13}>
        {(points) => (points.length > 0 ? <EarningsOf points={points} /> : <p class="empty">{noEarnings}</p>)}
      </Loaded>
    </Card>
  )
}

/** The chart of one currency. Above it stands the sum of the window, or the day under the pointer. */
function EarningsOf({ points }: { points: Model<'EarningPointVO'>[] }) {
  const chosen = useChoices().chosen['of'] ?? ''
  const [shown, setShown] = useState<number>()
  const currencies = [...new Set(points.map(({ currency }) => currency))].sort().reverse()
  const currency = currencies.includes(chosen) ? chosen : currencies[0]
  const series = points.filter((point) => point.currency === currency)
  const point = shown === undefined ? undefined : series[shown]
  return (
    <>
      <div class="readout">
        <Fact amount={point?.amount ?? sum(series.map(({ amount }) => amount))} currency={currency}>
          {point ? showDate(point.date) : 'in this window'}
        </Fact>
        {currencies.length > 1 && <Choice label="Currency" name="of" values={currencies} />}
      </div>
      <EarningsChart points={series} onPoint={setShown} />
      <details>
        <summary>As a list</summary>
        <Table
          name="Earnings by day"
          rows={series.toReversed()}
          columns={earningColumns}
          empty={noEarnings}
        />
      </details>
    </>
  )
}

const earningColumns: Columns<Model<'EarningPointVO'>> = [
  ['Day', ({ date }) => showDate(date), 'main'],
  ['Amount', ({ amount, currency }) => <Money amount={amount} currency={currency} />, 'number'],
]
