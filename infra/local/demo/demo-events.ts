import { demoLoginPassword, demoUsers } from './demo-users.ts'

/** An event of the demo data. */
export interface DemoEvent {
  detailType: string
  detail: Record<string, unknown>
}

/** The settings of the demo data. The same settings always give the same events. */
export interface DemoSettings {
  /** When the stack first started with this data, epoch milliseconds. Demo events are dated before it. */
  firstStart: number
  quoteCurrency: string
  rewardCurrency: string
  /** URL of the sample app, without a trailing slash. */
  appUrl?: string
  /** Number of addresses in each pool. The default is so high that no pool counts as nearly empty. */
  poolSize?: number
}

const day = 86_400_000
const [alice, bob, carol, , erin] = demoUsers.map((user) => user.user_id)
const scopes = 'openid profile email account.read community.read community.write dashboard.read deposit.read'

/** The address pools from which Alice's deposit addresses come. */
export const depositPools = [
  { currency: 'USDT', network: 'TRC20', confirmations: 20, prefix: 'TDemo' },
  { currency: 'BTC', network: 'BITCOIN', confirmations: 3, prefix: 'bc1qdemo' },
]

/**
 * Groups of demo events. Send them in this order, because each group depends on earlier ones. After the first
 * group, Alice can sign in, and the demo application can ask for her consent.
 */
export function demoStages(settings: DemoSettings): DemoEvent[][] {
  const { firstStart, quoteCurrency, rewardCurrency, appUrl = 'http://127.0.0.1:3002' } = settings
  const ago = (days: number) => firstStart - days * day
  const ofAlice = (daysAgo: number, detailType: string, detail: DemoEvent['detail']) =>
    event(detailType, { ...detail, user_id: alice, at: ago(daysAgo) })
  const [alone = [], direct = [], second = [], third = []] = registrations(ago)
  const client = event('client.registered', {
    client_id: 'demo-app',
    updated_at: ago(130),
    name: 'Demo application',
    redirect_uris: ['http://127.0.0.1:4000/callback'],
    scopes: scopes.split(' '),
  })
  const sampleApp = event('client.registered', {
    client_id: 'sample-wallet',
    updated_at: ago(130),
    name: 'Sample wallet',
    redirect_uris: [`${appUrl}/callback`],
    post_logout_redirect_uris: [`${appUrl}/`],
    scopes: scopes.split(' '),
  })
  const rates = Object.entries({ BTC: '64250.5', ETH: '3120.75', USDT: '1' })
  const quoted = Object.fromEntries(rates.filter(([currency]) => currency !== quoteCurrency))
  const published = event('rates.published', { quote: quoteCurrency, as_of: ago(40), rates: quoted })
  const purchases = demoUsers.slice(1).map(({ user_id, joinedDaysAgo }, index) => {
    const purchase_id = `demo-purchase-${user_id}`
    const [amount, at] = [String(100 * (index + 1)), ago(joinedDaysAgo - 1)]
    return event('package.purchased', { purchase_id, user_id, amount, at })
  })
  const devices = ['demo-device-1', 'demo-device-2', 'demo-device-3']
  const update = ofAlice(60, 'user.updated', { update_id: 'demo-update-1', nickname: 'Alice' })
  const transfer = { from: 'reward', to: 'asset', currency: rewardCurrency, amount: '40.5' }
  // From what a deposit credits: the welcome, in the quote currency, would not cover both.
  const paidOut = { withdrawal_id: 'demo-withdrawal-1', currency: 'USDT', amount: '40' }
  const held = { withdrawal_id: 'demo-withdrawal-2', currency: 'USDT', amount: '20' }
  return [
    [...alone, client, sampleApp],
    [...direct, published, update, ...addresses(settings)],
    [
      ...second,
      ...rewards(settings),
      ...devices.map((device_id) => ofAlice(90, 'device.activated', { device_id })),
      ofAlice(60, 'device.deactivated', { device_id: 'demo-device-3' }),
      // Assigns a deposit address in each pool, as if Alice had asked for it.
      ...depositPools.map((pool) => ofAlice(7, 'address.assigned', depositAddress(pool))),
    ],
    [...third, ...welcome(quoteCurrency, ago(8))],
    // Later, so that bills are booked in the order in which they occurred.
    [...purchases, ...deposits(ago)],
    [
      ...[1, 2, 3].map((daysAgo) => ofAlice(daysAgo, 'traffic.reported', trafficOf(daysAgo))),
      ofAlice(4, 'wallet.transferred', { transfer_id: 'demo-transfer-1', ...transfer }),
    ],
    [
      ofAlice(3, 'withdrawal.updated', { ...paidOut, status: 'requested' }),
      ofAlice(2, 'withdrawal.updated', {
        ...paidOut,
        status: 'settled',
        settled_amount: '38.75',
        fee: '1.25',
      }),
      ofAlice(1, 'withdrawal.updated', { ...held, status: 'requested' }),
    ],
  ]
}

type Pool = (typeof depositPools)[number]

const addressOf = ({ prefix }: Pool, index: number): string =>
  `${prefix}${String(index + 1).padStart(28, '0')}`

const depositAddress = (pool: Pool) => ({
  address: addressOf(pool, 0),
  currency: pool.currency,
  currency_network: pool.network,
})

const trafficOf = (daysAgo: number) => ({
  report_id: `demo-traffic-${daysAgo}`,
  device_id: 'demo-device-1',
  bytes: 1_234_567_890 * daysAgo,
})

type Ago = (days: number) => number

/** Creates two deposits for each pool. */
function deposits(ago: Ago): DemoEvent[] {
  const seen = [
    [
      { amount: '500', status: 'confirmed', confirmations: 20, daysAgo: 6 },
      { amount: '120.5', status: 'confirming', confirmations: 7, daysAgo: 1 },
    ],
    [
      { amount: '0.0125', status: 'confirmed', confirmations: 3, daysAgo: 5 },
      { amount: '0.001', status: 'failed', confirmations: 0, daysAgo: 2 },
    ],
  ]
  return depositPools.flatMap((pool, index) =>
    (seen[index] ?? []).map(({ daysAgo, ...deposit }, output_index) => {
      const txid = `demo-transaction-${index + 1}`
      const detail = { ...depositAddress(pool), ...deposit, txid, output_index, at: ago(daysAgo) }
      return event('deposit.updated', detail)
    }),
  )
}

/** The registrations, grouped by depth in the referral tree, because a referrer must be registered first. */
function registrations(ago: Ago): DemoEvent[][] {
  const levels = new Map<number | undefined, number>([[undefined, -1]])
  for (const user of demoUsers) levels.set(user.user_id, (levels.get(user.referrer_id) ?? 0) + 1)
  const byLevel = Map.groupBy(demoUsers, (user) => levels.get(user.user_id))
  return [...byLevel.values()].map((level) =>
    level.map(({ joinedDaysAgo, ...user }) => {
      const registered_at = ago(joinedDaysAgo)
      return event('user.registered', { ...user, login_password: demoLoginPassword, registered_at })
    }),
  )
}

const addresses = ({ poolSize = 120 }: DemoSettings): DemoEvent[] =>
  depositPools.map((pool) =>
    event('addresses.provisioned', {
      batch_id: `demo-${pool.network.toLowerCase()}-1`,
      currency: pool.currency,
      currency_network: pool.network,
      required_confirmations: pool.confirmations,
      addresses: Array.from({ length: poolSize }, (_, index) => ({ address: addressOf(pool, index) })),
    }),
  )

/** Alice's rewards: one on each of the last 30 days, and another on every fifth day. */
function rewards({ firstStart, rewardCurrency }: DemoSettings): DemoEvent[] {
  const types = ['NODE', 'REFERRAL', 'TEAM']
  const other = rewardCurrency === 'BTC' ? 'ETH' : 'BTC'
  const reward = (daysAgo: number, name: string, reward_type: unknown, currency: string, amount: string) =>
    event('reward.granted', {
      reward_id: `demo-${name}-${daysAgo}`,
      user_id: alice,
      earned_on: new Date(firstStart - daysAgo * day).toISOString().slice(0, 10),
      reward_type,
      currency,
      amount,
    })
  return Array.from({ length: 30 }, (_, daysAgo) => [
    reward(daysAgo, 'reward', types[daysAgo % 3], rewardCurrency, `${3 + (daysAgo % 4)}.${25 + daysAgo}`),
    ...(daysAgo % 5 === 0 ? [reward(daysAgo, 'bonus', 'NODE', other, `0.000${31 + daysAgo}`)] : []),
  ]).flat()
}

const welcome = (currency: string, at: number): DemoEvent[] =>
  [alice, bob, carol, erin].map((user_id) => {
    const credit = { wallet: 'asset', currency, amount: '50', direction: 1, reason: 'Welcome credit', at }
    return event('wallet.adjusted', { adjustment_id: `demo-welcome-${user_id ?? ''}`, user_id, ...credit })
  })

const event = (detailType: string, detail: DemoEvent['detail']): DemoEvent => ({ detailType, detail })
