import { demoLoginPassword, demoUsers } from './demo-users.ts'

/** An event of the demo data. */
export interface DemoEvent {
  detailType: string
  detail: Record<string, unknown>
}

/** The settings of the demo data. The same settings always give the same events. */
export interface DemoSettings {
  /** First start of the local stack on this data directory, epoch milliseconds. Demo events are older. */
  firstStart: number
  quoteCurrency: string
  rewardCurrency: string
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
 * The events, in stages. Each stage depends on the stages before it. After the first stage, Alice can sign
 * in, and the demo application can ask for her consent.
 */
export function demoStages(settings: DemoSettings): DemoEvent[][] {
  const [alone = [], ...downline] = registrations(settings)
  return [
    [...alone, client(settings)],
    ...downline,
    [rates(settings), ...addresses()],
    [...rewards(settings), ...purchases(settings), ...devices(settings), ...welcome(settings)],
    [...traffic(settings), transfer(settings), ...assignments(settings)],
    [withdrawal(settings, 'requested', 3), ...deposits(settings)],
    [withdrawal(settings, 'settled', 2)],
  ]
}

const client = ({ firstStart }: DemoSettings): DemoEvent =>
  event('client.registered', {
    client_id: 'demo-app',
    updated_at: firstStart - 130 * day,
    name: 'Demo application',
    redirect_uris: ['http://127.0.0.1:4000/callback'],
    scopes: scopes.split(' '),
  })

/** Assigns Alice the first address of each pool, as if she had asked for a deposit address. */
const assignments = ({ firstStart }: DemoSettings): DemoEvent[] =>
  depositPools.map((pool) =>
    event('address.assigned', {
      address: addressOf(pool, 0),
      currency: pool.currency,
      currency_network: pool.network,
      user_id: alice,
      at: firstStart - 7 * day,
    }),
  )

function deposits({ firstStart }: DemoSettings): DemoEvent[] {
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
    (seen[index] ?? []).map(({ daysAgo, ...deposit }, output_index) =>
      event('deposit.updated', {
        txid: `demo-transaction-${index + 1}`,
        currency_network: pool.network,
        output_index,
        address: addressOf(pool, 0),
        currency: pool.currency,
        ...deposit,
        at: firstStart - daysAgo * day,
      }),
    ),
  )
}

/** The registrations: one stage for each level of referrals, because referrers must be registered first. */
function registrations({ firstStart }: DemoSettings): DemoEvent[][] {
  const levels = new Map<number | undefined, number>([[undefined, -1]])
  for (const user of demoUsers) levels.set(user.user_id, (levels.get(user.referrer_id) ?? 0) + 1)
  const byLevel = Map.groupBy(demoUsers, (user) => levels.get(user.user_id))
  return [...byLevel.values()].map((level) =>
    level.map(({ joinedDaysAgo, ...user }) =>
      event('user.registered', {
        ...user,
        login_password: demoLoginPassword,
        registered_at: firstStart - joinedDaysAgo * day,
      }),
    ),
  )
}

function rates({ firstStart, quoteCurrency }: DemoSettings): DemoEvent {
  const known = { BTC: '64250.5', ETH: '3120.75', USDT: '1' }
  const quoted = Object.entries(known).filter(([currency]) => currency !== quoteCurrency)
  return event('rates.published', {
    quote: quoteCurrency,
    as_of: firstStart - 40 * day,
    rates: Object.fromEntries(quoted),
  })
}

/** Number of addresses in each pool: so many that no alarm reports a pool as nearly empty. */
const poolSize = 120

const addresses = (): DemoEvent[] =>
  depositPools.map((pool) =>
    event('addresses.provisioned', {
      batch_id: `demo-${pool.network.toLowerCase()}-1`,
      currency: pool.currency,
      currency_network: pool.network,
      required_confirmations: pool.confirmations,
      addresses: Array.from({ length: poolSize }, (_, index) => ({ address: addressOf(pool, index) })),
    }),
  )

const addressOf = ({ prefix }: { prefix: string }, index: number): string =>
  `${prefix}${String(index + 1).padStart(28, '0')}`

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

const purchases = ({ firstStart }: DemoSettings): DemoEvent[] =>
  demoUsers.slice(1).map(({ user_id, joinedDaysAgo }, index) =>
    event('package.purchased', {
      purchase_id: `demo-purchase-${user_id}`,
      user_id,
      amount: String(100 * (index + 1)),
      at: firstStart - (joinedDaysAgo - 1) * day,
    }),
  )

const devices = ({ firstStart }: DemoSettings): DemoEvent[] =>
  ['demo-device-1', 'demo-device-2'].map((device_id) =>
    event('device.activated', { device_id, at: firstStart - 90 * day, user_id: alice }),
  )

const welcome = ({ firstStart, quoteCurrency }: DemoSettings): DemoEvent[] =>
  [alice, bob, carol, erin].map((user_id) =>
    event('wallet.adjusted', {
      adjustment_id: `demo-welcome-${user_id ?? ''}`,
      user_id,
      wallet: 'asset',
      currency: quoteCurrency,
      amount: '50',
      direction: 1,
      reason: 'Welcome credit',
      at: firstStart - 8 * day,
    }),
  )

const traffic = ({ firstStart }: DemoSettings): DemoEvent[] =>
  [1, 2, 3].map((daysAgo) =>
    event('traffic.reported', {
      report_id: `demo-traffic-${daysAgo}`,
      user_id: alice,
      device_id: 'demo-device-1',
      bytes: 1_234_567_890 * daysAgo,
      at: firstStart - daysAgo * day,
    }),
  )

const transfer = ({ firstStart, rewardCurrency }: DemoSettings): DemoEvent =>
  event('wallet.transferred', {
    transfer_id: 'demo-transfer-1',
    user_id: alice,
    from: 'reward',
    to: 'asset',
    currency: rewardCurrency,
    amount: '40.5',
    at: firstStart - 4 * day,
  })

const withdrawal = (settings: DemoSettings, status: string, daysAgo: number): DemoEvent =>
  event('withdrawal.updated', {
    withdrawal_id: 'demo-withdrawal-1',
    user_id: alice,
    currency: settings.quoteCurrency,
    amount: '12.25',
    status,
    at: settings.firstStart - daysAgo * day,
  })

const event = (detailType: string, detail: DemoEvent['detail']): DemoEvent => ({ detailType, detail })
