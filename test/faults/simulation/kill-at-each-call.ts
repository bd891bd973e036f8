import { openDraws } from './draws.ts'
import type { Details, EventType } from './events.ts'
import { drawStart, type History, type Operation } from './history.ts'
import { runHistory } from './run-history.ts'
import { passwordOf, type SessionUse, totpSecretOf } from './sign-in.ts'
import { calm } from './world.ts'

const begin = Date.UTC(2026, 1, 1, 12)
const userIds = [1001, 1002]
const [userId] = userIds as [number]
const money = { user_id: userId, currency: 'USDT', amount: '3', at: begin }

const event = <Type extends EventType>(type: Type, detail: Details[Type]): Operation => ({
  after: 0,
  kind: 'event',
  type,
  detail,
})

const signIn = (uses: readonly SessionUse[]): Operation => ({
  after: 0,
  kind: 'signIn',
  plan: {
    userId: 1002,
    email: 'user1002@example.com',
    password: passwordOf(1002),
    method: 'AUTHENTICATOR',
    wrongCodes: 0,
    simultaneous: 1,
    uses,
  },
  source: '2001:db8::1',
  secret: totpSecretOf(1002),
})

const credit = event('wallet.adjusted', {
  ...money,
  adjustment_id: 'credit',
  wallet: 'asset',
  amount: '10',
  direction: 1,
  reason: 'a credit',
})

/** What is done while a function is killed, by the function's path. */
const deeds: readonly (readonly [path: string, ...Operation[]])[] = [
  [
    'functions/intake/user.registered.ts',
    event('user.registered', {
      user_id: 1003,
      email: 'user1003@example.com',
      nickname: 'Cy',
      referrer_id: 1002,
      login_password: passwordOf(1003),
      totp_secret: totpSecretOf(1003),
      registered_at: begin,
    }),
  ],
  [
    'functions/intake/user.updated.ts',
    signIn(['consent']),
    {
      ...event('user.updated', {
        update_id: 'update',
        user_id: 1002,
        at: begin,
        nickname: 'Dee',
        email: 'dee@example.org',
        login_password: passwordOf(1002, 1),
      }),
      after: 60_000,
    },
  ],
  ['functions/intake/wallet.adjusted.ts', credit],
  [
    'functions/intake/wallet.transferred.ts',
    event('wallet.transferred', { ...money, transfer_id: 'transfer', from: 'asset', to: 'reward' }),
  ],
  ...(['requested', 'settled', 'cancelled'] as const).map(
    (status) =>
      [
        'functions/intake/withdrawal.updated.ts',
        event('withdrawal.updated', { ...money, withdrawal_id: 'withdrawal', status }),
      ] as const,
  ),
  [
    'functions/intake/reward.granted.ts',
    event('reward.granted', {
      reward_id: 'reward',
      user_id: userId,
      reward_type: 'referral',
      currency: 'USDT',
      amount: '1',
      earned_on: '2026-01-31',
    }),
  ],
  [
    'functions/intake/package.purchased.ts',
    event('package.purchased', {
      purchase_id: 'purchase',
      user_id: 1002,
      amount: '5',
      at: begin,
    }),
  ],
  [
    'functions/worker/grow-tree.ts',
    event('package.purchased', { purchase_id: 'purchase', user_id: 1002, amount: '5', at: begin }),
  ],
  [
    'functions/intake/device.activated.ts',
    event('device.activated', { device_id: 'device', at: begin, user_id: userId }),
  ],
  [
    'functions/intake/traffic.reported.ts',
    event('traffic.reported', {
      report_id: 'r',
      user_id: userId,
      device_id: 'd',
      bytes: 1_000_000_000,
      at: begin,
    }),
  ],
  [
    'functions/intake/rates.published.ts',
    event('rates.published', { quote: 'USDT', as_of: begin, rates: { BTC: '90000' } }),
  ],
  [
    'functions/intake/addresses.provisioned.ts',
    event('addresses.provisioned', {
      batch_id: 'more',
      currency: 'USDT',
      currency_network: 'TRON',
      required_confirmations: 3,
      addresses: Array.from({ length: 60 }, (_, i) => ({ address: `more${i}` })),
    }),
  ],
  ['functions/address/info.ts', { after: 0, kind: 'address', userId, currency: 'USDT', network: 'TRON' }],
  [
    'functions/intake/deposit.updated.ts',
    { after: 0, kind: 'address', userId, currency: 'USDT', network: 'TRON' },
    {
      after: 5_000,
      kind: 'deposit',
      userId,
      detail: {
        currency_network: 'TRON',
        txid: 'tx',
        output_index: 0,
        currency: 'USDT',
        amount: '5',
        status: 'confirmed',
        confirmations: 3,
        at: begin,
      },
    },
  ],
  ['functions/community/note.ts', { after: 0, kind: 'note', userId, target: 1002, note: 'a note' }],
  ['functions/user/login-with-password.ts', signIn([])],
  ['functions/user/login-2fa.ts', signIn([])],
  ['functions/oauth2/consent.ts', signIn(['consent'])],
  ['functions/oauth2/token.ts', signIn(['consent'])],
  ['functions/oauth2/token.ts', signIn(['consent, code used twice'])],
  ['functions/oauth2/exchange.ts', signIn(['exchange'])],
  ['functions/user/logout.ts', signIn(['consent', 'logout'])],
  ['functions/schedule/rotate-signing-keys.ts', { after: 0, kind: 'rotate', input: { action: 'rotate' } }],
  [
    'functions/schedule/rotate-signing-keys.ts',
    signIn([]),
    { after: 60_000, kind: 'rotate', input: { action: 'rotate', emergency: true } },
    { ...signIn(['exchange']), after: 60_000 },
  ],
]

const maxCalls = 200
const quiet: Operation = { after: 0, kind: 'quiet', userIds: [...userIds, 1003] }

/**
 * Kills every function that writes at each of its AWS calls, before and after it takes effect, and lets it be
 * repeated. Lists what is not as the model says after that.
 */
export async function killAtEachCall(options: { dynamodbLocal?: boolean }): Promise<string[]> {
  const problems: string[] = []
  for (const [path, ...operations] of deeds) {
    let kills = 0
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; call < maxCalls; call += 1) {
        const history = historyOf({ path, call, when }, operations)
        const { problems: found, hasDied } = await runHistory(history, options)
        problems.push(...found.map((problem) => `${path} killed ${when} call ${call}: ${problem}`))
        if (!hasDied) break
        kills += 1
      }
    }
    console.log(`${path}: killed ${kills} times`)
  }
  return problems
}

let histories = 0

function historyOf(
  death: { path: string; call: number; when: 'before' | 'after' },
  operations: readonly Operation[],
): History {
  const signsIn = operations.some(({ kind }) => kind === 'signIn' || kind === 'rotate')
  const draws = { ...openDraws(1), happens: () => false }
  // Each on a day of its own, as in history.ts.
  histories += 1
  const day = begin + histories * 86_400_000
  const start = drawStart({ draws, begin: day, userIds, sent: [], signsIn })
  return {
    seed: 1,
    begin: day,
    weather: calm,
    userIds: [...userIds, 1003],
    operations: [...start, credit, quiet, { after: 0, kind: 'kill', ...death }, ...operations, quiet],
  }
}
