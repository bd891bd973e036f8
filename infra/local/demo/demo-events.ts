import { demoLoginPassword, demoUsers } from './demo-users.ts'

/** An event for the bus. */
export interface DemoEvent {
  detailType: string
  detail: Record<string, unknown>
}

/** What the demo data depends on; with the same values it is the same to the letter. */
export interface DemoSetting {
  /** Epoch milliseconds of the data directory's first start: everything lies before it. */
  firstStart: number
  quoteCurrency: string
  rewardCurrency: string
}

/** Events that need what the stages before them have done; those of one stage may arrive in any order. */
export type DemoStage = DemoEvent[]

const day = 86_400_000
const [alice, bob, carol, , erin] = demoUsers.map((user) => user.user_id)

/** Where Alice's deposits go to. */
export const depositPools = [
  { currency: 'USDT', network: 'TRC20' },
  { currency: 'BTC', network: 'BITCOIN' },
]

/** What must be there before Alice can sign in and the demo application can ask for her consent. */
export const firstStage = ({ firstStart }: DemoSetting): DemoStage => [
  ...demoUsers.filter((user) => user.referrer_id === undefined).map((user) => registration(user, firstStart)),
  {
    detailType: 'client.registered',
    detail: {
      client_id: 'demo-app',
      // One later than in the first version of this data, so that what was kept from then learns the second address.
      updated_at: firstStart - 130 * day + 1,
      name: 'Demo application',
      // The second one is the reference client's on the stack's own page; on this machine the port may be any.
      redirect_uris: ['http://127.0.0.1:4000/callback', 'http://127.0.0.1:3000/_local/callback'],
      scopes: [
        'openid',
        'profile',
        'email',
        'account.read',
        'community.read',
        'community.write',
        'dashboard.read',
        'deposit.read',
      ],
    },
  },
]

/** The downline, what everybody bought and earned, and what became of it. */
export const laterStages = (setting: DemoSetting): DemoStage[] => [
  ...downline(setting),
  [...rates(setting), ...addresses()],
  [...rewards(setting), ...purchases(setting), ...devices(setting), ...welcome(setting)],
  [...traffic(setting), ...transfers(setting)],
  withdrawal(setting, 'requested', 3),
  withdrawal(setting, 'settled', 2),
]

/** What the chain watcher saw on Alice's addresses, which are those of `depositPools`. */
export function deposits({ firstStart }: DemoSetting, addresses: string[]): DemoStage {
  const seen = [
    { pool: 0, amount: '500', status: 'confirmed', confirmations: 20, daysAgo: 6 },
    { pool: 0, amount: '120.5', status: 'confirming', confirmations: 7, daysAgo: 1 },
    { pool: 1, amount: '0.0125', status: 'confirmed', confirmations: 3, daysAgo: 5 },
    { pool: 1, amount: '0.001', status: 'failed', confirmations: 0, daysAgo: 2 },
  ]
  return seen.map(({ pool, amount, status, confirmations, daysAgo }, index) => ({
    detailType: 'deposit.updated',
    detail: {
      txid: `demo-transaction-${index + 1}`,
      currency_network: depositPools[pool]?.network,
      output_index: 0,
      address: addresses[pool],
      currency: depositPools[pool]?.currency,
      amount,
      status,
      confirmations,
      at: firstStart - daysAgo * day,
    },
  }))
}

function downline({ firstStart }: DemoSetting): DemoStage[] {
  const levels: (typeof demoUsers)[] = []
  let above = demoUsers.filter((user) => user.referrer_id === undefined)
  while (above.length > 0) {
    const referrers = new Set(above.map((user) => user.user_id))
    above = demoUsers.filter((user) => user.referrer_id !== undefined && referrers.has(user.referrer_id))
    levels.push(above)
  }
  return levels.map((level) => level.map((user) => registration(user, firstStart)))
}

function registration({ joinedDaysAgo, ...user }: (typeof demoUsers)[number], firstStart: number): DemoEvent {
  return {
    detailType: 'user.registered',
    detail: { ...user, login_password: demoLoginPassword, registered_at: firstStart - joinedDaysAgo * day },
  }
}

const rates = ({ firstStart, quoteCurrency }: DemoSetting): DemoStage => [
  {
    detailType: 'rates.published',
    detail: {
      quote: quoteCurrency,
      as_of: firstStart - 40 * day,
      rates: Object.fromEntries(
        [
          ['BTC', '64250.5'],
          ['ETH', '3120.75'],
          ['USDT', '1'],
        ].filter(([currency]) => currency !== quoteCurrency),
      ) as Record<string, string>,
    },
  },
]

const addresses = (): DemoStage =>
  [
    { currency: 'USDT', network: 'TRC20', confirmations: 20, prefix: 'TDemo' },
    { currency: 'BTC', network: 'BITCOIN', confirmations: 3, prefix: 'bc1qdemo' },
  ].map(({ currency, network, confirmations, prefix }) => ({
    detailType: 'addresses.provisioned',
    detail: {
      batch_id: `demo-${network.toLowerCase()}-1`,
      currency,
      currency_network: network,
      required_confirmations: confirmations,
      addresses: Array.from({ length: 50 }, (_, index) => ({
        address: `${prefix}${String(index + 1).padStart(28, '0')}`,
      })),
    },
  }))

/** A reward in the reward currency on each of the last 30 days, and one in another currency on every fifth. */
function rewards({ firstStart, rewardCurrency }: DemoSetting): DemoStage {
  const types = ['NODE', 'REFERRAL', 'TEAM']
  const other = rewardCurrency === 'BTC' ? 'ETH' : 'BTC'
  return Array.from({ length: 30 }, (_, daysAgo) => {
    const earned_on = new Date(firstStart - daysAgo * day).toISOString().slice(0, 10)
    const common = { user_id: alice, earned_on }
    return [
      {
        reward_id: `demo-reward-${daysAgo}`,
        ...common,
        reward_type: types[daysAgo % types.length],
        currency: rewardCurrency,
        amount: `${3 + (daysAgo % 4)}.${25 + daysAgo}`,
      },
      ...(daysAgo % 5 === 0
        ? [
            {
              reward_id: `demo-bonus-${daysAgo}`,
              ...common,
              reward_type: 'NODE',
              currency: other,
              amount: `0.000${31 + daysAgo}`,
            },
          ]
        : []),
    ].map((detail) => ({ detailType: 'reward.granted', detail }))
  }).flat()
}

const purchases = ({ firstStart }: DemoSetting): DemoStage =>
  demoUsers.slice(1).map(({ user_id, joinedDaysAgo }, index) => ({
    detailType: 'package.purchased',
    detail: {
      purchase_id: `demo-purchase-${user_id}`,
      user_id,
      amount: String(100 * (index + 1)),
      at: firstStart - (joinedDaysAgo - 1) * day,
    },
  }))

const devices = ({ firstStart }: DemoSetting): DemoStage =>
  ['demo-device-1', 'demo-device-2'].map((device_id) => ({
    detailType: 'device.activated',
    detail: { device_id, at: firstStart - 90 * day, user_id: alice },
  }))

const welcome = ({ firstStart, quoteCurrency }: DemoSetting): DemoStage =>
  [alice, bob, carol, erin].map((user_id) => ({
    detailType: 'wallet.adjusted',
    detail: {
      adjustment_id: `demo-welcome-${user_id ?? ''}`,
      user_id,
      wallet: 'asset',
      currency: quoteCurrency,
      amount: '50',
      direction: 1,
      reason: 'Welcome credit',
      at: firstStart - 8 * day,
    },
  }))

const traffic = ({ firstStart }: DemoSetting): DemoStage =>
  [1, 2, 3].map((daysAgo) => ({
    detailType: 'traffic.reported',
    detail: {
      report_id: `demo-traffic-${daysAgo}`,
      user_id: alice,
      device_id: 'demo-device-1',
      bytes: 1_234_567_890 * daysAgo,
      at: firstStart - daysAgo * day,
    },
  }))

const transfers = ({ firstStart, rewardCurrency }: DemoSetting): DemoStage => [
  {
    detailType: 'wallet.transferred',
    detail: {
      transfer_id: 'demo-transfer-1',
      user_id: alice,
      from: 'reward',
      to: 'asset',
      currency: rewardCurrency,
      amount: '40.5',
      at: firstStart - 4 * day,
    },
  },
]

const withdrawal = (
  { firstStart, quoteCurrency }: DemoSetting,
  status: string,
  daysAgo: number,
): DemoStage => [
  {
    detailType: 'withdrawal.updated',
    detail: {
      withdrawal_id: 'demo-withdrawal-1',
      user_id: alice,
      currency: quoteCurrency,
      amount: '12.25',
      status,
      at: firstStart - daysAgo * day,
    },
  },
]
