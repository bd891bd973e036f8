import { demoLoginPassword, type DemoUser, demoUsers } from './demo-users.ts'

/** An event of the demo data. */
export interface DemoEvent {
  detailType: string
  detail: Record<string, unknown>
}

/** The settings of the demo data. The same settings always give the same events. */
export interface DemoSettings {
  /** First start of the data directory, epoch milliseconds. All demo events are dated before it. */
  firstStart: number
  quoteCurrency: string
  rewardCurrency: string
}

const day = 86_400_000
const [alice, bob, carol, , erin] = demoUsers.map((user) => user.user_id)
const scopes = 'openid profile email account.read community.read community.write dashboard.read deposit.read'

/** The address pools from which Alice's deposit addresses come. */
export const depositPools = [
  { currency: 'USDT', network: 'TRC20' },
  { currency: 'BTC', network: 'BITCOIN' },
]

/** The events that Alice needs to sign in, and the demo application to ask for her consent. */
export const firstStage = ({ firstStart }: DemoSettings): DemoEvent[] => [
  ...demoUsers.filter((user) => user.referrer_id === undefined).map((user) => registration(user, firstStart)),
  event('client.registered', {
    client_id: 'demo-app',
    updated_at: firstStart - 130 * day,
    name: 'Demo application',
    redirect_uris: ['http://127.0.0.1:4000/callback'],
    scopes: scopes.split(' '),
  }),
]

/** Events of the downline, its purchases and earnings, in stages that each depend on the ones before. */
export const laterStages = (settings: DemoSettings): DemoEvent[][] => [
  ...downline(settings),
  [rates(settings), ...addresses()],
  [...rewards(settings), ...purchases(settings), ...devices(settings), ...welcome(settings)],
  [...traffic(settings), transfer(settings)],
  [withdrawal(settings, 'requested', 3)],
  [withdrawal(settings, 'settled', 2)],
]

/** The events of deposits to Alice's addresses, of which there is one from each of `depositPools`. */
export function deposits({ firstStart }: DemoSettings, addresses: string[]): DemoEvent[] {
  const seen = [
    { pool: 0, amount: '500', status: 'confirmed', confirmations: 20, daysAgo: 6 },
    { pool: 0, amount: '120.5', status: 'confirming', confirmations: 7, daysAgo: 1 },
    { pool: 1, amount: '0.0125', status: 'confirmed', confirmations: 3, daysAgo: 5 },
    { pool: 1, amount: '0.001', status: 'failed', confirmations: 0, daysAgo: 2 },
  ]
  return seen.map(({ pool, amount, status, confirmations, daysAgo }, index) =>
    event('deposit.updated', {
      txid: `demo-transaction-${index + 1}`,
      currency_network: depositPools[pool]?.network,
      output_index: 0,
      address: addresses[pool],
      currency: depositPools[pool]?.currency,
      amount,
      status,
      confirmations,
      at: firstStart - daysAgo * day,
    }),
  )
}

/** The registrations of the downline, a stage for each level, because a referrer must be registered first. */
function downline({ firstStart }: DemoSettings): DemoEvent[][] {
  const levels: DemoUser[][] = []
  let above = demoUsers.filter((user) => user.referrer_id === undefined)
  while (above.length > 0) {
    const referrers = new Set<number | undefined>(above.map((user) => user.user_id))
    above = demoUsers.filter((user) => referrers.has(user.referrer_id))
    levels.push(above)
  }
  return levels.map((level) => level.map((user) => registration(user, firstStart)))
}

const registration = ({ joinedDaysAgo, ...user }: DemoUser, firstStart: number): DemoEvent =>
  event('user.registered', {
    ...user,
    login_password: demoLoginPassword,
    registered_at: firstStart - joinedDaysAgo * day,
  })

function rates({ firstStart, quoteCurrency }: DemoSettings): DemoEvent {
  const known = { BTC: '64250.5', ETH: '3120.75', USDT: '1' }
  const quoted = Object.entries(known).filter(([currency]) => currency !== quoteCurrency)
  return event('rates.published', {
    quote: quoteCurrency,
    as_of: firstStart - 40 * day,
    rates: Object.fromEntries(quoted),
  })
}

/** Number of addresses in each pool: enough that no alarm reports a low one. */
const poolSize = 120

function addresses(): DemoEvent[] {
  const batches = [
    { currency: 'USDT', network: 'TRC20', confirmations: 20, prefix: 'TDemo' },
    { currency: 'BTC', network: 'BITCOIN', confirmations: 3, prefix: 'bc1qdemo' },
  ]
  return batches.map(({ currency, network, confirmations, prefix }) =>
    event('addresses.provisioned', {
      batch_id: `demo-${network.toLowerCase()}-1`,
      currency,
      currency_network: network,
      required_confirmations: confirmations,
      addresses: Array.from({ length: poolSize }, (_, index) => ({
        address: `${prefix}${String(index + 1).padStart(28, '0')}`,
      })),
    }),
  )
}

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

function event(detailType: string, detail: DemoEvent['detail']): DemoEvent {
  return { detailType, detail }
}
