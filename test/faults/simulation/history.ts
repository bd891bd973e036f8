import { type Draws, openDraws } from './draws.ts'
import type { Details, EventType } from './events.ts'
import { clientRegistration, passwordOf, type SignInPlan, totpSecretOf } from './sign-in.ts'
import type { WorldWeather } from './world.ts'

/** An input to the service, a fault, or a check. It begins `after` ms later than the previous operation. */
export type Operation = { after: number } & (
  | { kind: 'event'; type: EventType; detail: object }
  | { kind: 'deposit'; userId: number; detail: Omit<Details['deposit.updated'], 'address'> }
  | { kind: 'address'; userId: number; currency: string; network: string }
  | { kind: 'note'; userId: number; target: number; note: string }
  | { kind: 'signIn'; plan: SignInPlan; source: string; secret: string }
  /** Starts a key rotation with this input, and continues it as the schedule does until it is complete. */
  | { kind: 'rotate'; input: object }
  /** Takes the mail service down for a number of milliseconds. */
  | { kind: 'mailDown'; milliseconds: number }
  /** Makes AWS throttle a share of all calls for a number of milliseconds. */
  | { kind: 'throttle'; share: number; milliseconds: number }
  /** Somebody disables the active signing key in KMS, and an operator replaces it 20 s later. */
  | { kind: 'disableKey' }
  /** A user reads something while other operations are in progress. */
  | { kind: 'read'; userId: number; what: string }
  /** Waits until no work is in progress, and then checks everything that these users can read. */
  | { kind: 'quiet'; userIds: number[] }
)

/** The random operations and fault probabilities of one simulation, drawn from a seed. */
export interface History {
  seed: number
  /** Start of the simulation in virtual time, epoch milliseconds. */
  begin: number
  weather: WorldWeather
  userIds: number[]
  operations: Operation[]
}

const day = 86_400_000
const currencies = ['USDT', 'USDT', 'BTC', 'EUR'] as const
const pools = [
  { currency: 'USDT', network: 'TRON' },
  { currency: 'BTC', network: 'BITCOIN' },
] as const

/** Below this number of operations, a simulation has only two users, and checks one of them at the end. */
const minLength = 20

const instantOf = (day: number, hour: number): number => Date.UTC(2026, 1, 1 + day, hour)

/** Generates a random simulation of about `length` operations. `day` changes only the date of its start. */
export function drawHistory(seed: number, length: number, day: number): History {
  const draws = openDraws(seed)
  const begin = instantOf(day, 6 + draws.below('begin hour', 12))
  const isShort = length < minLength
  const userIds = Array.from({ length: isShort ? 2 : 2 + draws.below('users', 4) }, (_, i) => 1001 + i)
  const signsIn = draws.happens('signs in', isShort ? 0.15 : 0.3)
  const source: Source = { draws, begin, userIds, sent: [], signsIn }
  const ofSubject = signsIn ? [...signInKinds, ...signInKinds, ...moneyKinds] : moneyKinds
  const checked = isShort ? [draws.pick('checked', userIds)] : userIds
  const quiet: Operation = { after: 0, kind: 'quiet', userIds: checked }
  const operations: Operation[] = [...drawStart(source), isShort ? { ...quiet, userIds: [] } : quiet]
  for (let i = 0; i < length; i += 1) {
    const again = source.sent.length > 0 && draws.happens('again', 0.15)
    const made = again ? repeat(source) : kinds[draws.pick('kind', ofSubject)](source, `${seed}-${i}`)
    for (const operation of [made].flat()) {
      if (operation.kind === 'event') (source.sent as EventOperation[]).push(operation)
      const pause = draws.happens('pause', 0.2) ? draws.below('pause', 20_000) : draws.below('after', 100)
      operations.push({ ...operation, after: operation.after + pause })
    }
    if (!isShort && draws.happens('quiet', 3 / length) && i < length - 1) operations.push(quiet)
  }
  operations.push(quiet)
  return { seed, begin, weather: drawWeather(draws, source.signsIn), userIds, operations }
}

function drawWeather(draws: Draws, signsIn: boolean): WorldWeather {
  const drawOne = (name: string, ...values: number[]) => draws.pick(`weather ${name}`, values)
  return {
    throttles: drawOne('throttles', 0, 0.02, 0.1),
    conflicts: drawOne('conflicts', 0, 0.1, 0.3),
    lostAnswers: drawOne('lost answers', 0, 0.02, 0.08),
    kills: drawOne('kills', 0, 0.01, 0.03),
    staleReads: drawOne('stale reads', 0, 0.33),
    duplicates: drawOne('duplicates', 0, 0.1, 0.3),
    lostDeletes: drawOne('lost deletes', 0, 0.03),
    maxLate: drawOne('late', 0, 2_000, 20_000),
    // Sign-ins need correct clocks: a process with a wrong clock would refuse valid authenticator codes.
    clockOff: signsIn ? 0 : drawOne('clock', 0, 0, 290_000, -290_000),
  }
}

interface Source {
  draws: Draws
  begin: number
  userIds: readonly number[]
  sent: readonly EventOperation[]
  signsIn: boolean
}
type EventOperation = Operation & { kind: 'event' }

const event = <Type extends EventType>(type: Type, detail: Details[Type], after = 0): Operation => ({
  after,
  kind: 'event',
  type,
  detail,
})

/** Registers the users in one or more referral trees, adds deposit addresses, and credits asset wallets. */
function drawStart({ draws, begin, userIds, signsIn }: Source): Operation[] {
  const registered = userIds.map((userId, i) => {
    const above = i === 0 || draws.happens('root', 0.2) ? undefined : userIds[draws.below('referrer', i)]
    return event(
      'user.registered',
      {
        user_id: userId,
        email: `user${userId}@example.com`,
        nickname: `${draws.pick('name', ['Ann', 'Bob', 'Cy'])} ${userId}`,
        ...(above !== undefined && { referrer_id: above }),
        ...(signsIn && { login_password: passwordOf(userId) }),
        ...(signsIn && userId % 2 === 0 && { totp_secret: totpSecretOf(userId) }),
        registered_at: begin - draws.below('registered', 3 * day) - i,
      },
      draws.below('registered after', 3_000),
    )
  })
  const provisioned = pools.map((pool) => provisionPool(pool, `batch-${pool.currency}`, userIds))
  const credited = userIds.map((userId) =>
    event('wallet.adjusted', {
      adjustment_id: `first-${userId}`,
      user_id: userId,
      wallet: 'asset',
      currency: 'USDT',
      amount: '30',
      direction: 1,
      reason: 'a beginning',
      at: begin,
    }),
  )
  if (!signsIn) return [...registered, ...provisioned, ...credited]
  const client = event('client.registered', clientRegistration(begin))
  return [{ after: 0, kind: 'rotate', input: {} }, client, ...registered, ...provisioned, ...credited]
}

const drawAmount = (draws: Draws): string =>
  draws.pick('amount', [
    () => `${1 + draws.below('units', 20)}`,
    () => `${draws.below('units', 5)}.${1 + draws.below('cents', 99)}`,
    () => '0.000000000000000001',
    () => `${1 + draws.below('units', 9)}.100000000000000001`,
  ])()

const drawUser = ({ draws, userIds }: Source): number => draws.pick('user', userIds)
const drawInstant = ({ draws, begin }: Source): number => begin - draws.below('instant', 2 * day)
const drawMoney = (source: Source) => ({
  user_id: drawUser(source),
  currency: source.draws.pick('currency', currencies),
  amount: drawAmount(source.draws),
  at: drawInstant(source),
})

type Draw = (source: Source, key: string) => Operation | Operation[]

const adjust: Draw = (source, key) =>
  event('wallet.adjusted', {
    adjustment_id: key,
    ...drawMoney(source),
    wallet: source.draws.pick('wallet', ['asset', 'asset', 'reward']),
    direction: source.draws.pick('direction', [1, 1, 2]),
    reason: `because of ${key}`,
  })

const reward: Draw = (source, key) => {
  const { at, ...money } = drawMoney(source)
  return event('reward.granted', {
    reward_id: key,
    ...money,
    reward_type: source.draws.pick('reward type', ['referral', 'traffic', 'bonus #1']),
    earned_on: new Date(at).toISOString().slice(0, 10),
  })
}

const transfer: Draw = (source, key) => {
  const from = source.draws.pick('from', ['asset', 'reward'] as const)
  return event('wallet.transferred', {
    transfer_id: key,
    ...drawMoney(source),
    from,
    to: from === 'asset' ? 'reward' : 'asset',
  })
}

const withdraw: Draw = (source, key) => {
  const { draws } = source
  const common = { withdrawal_id: key, ...drawMoney(source) }
  const orders = [
    ['requested'],
    ['requested', 'settled'],
    ['requested', 'cancelled'],
    ['settled', 'requested'],
    ['cancelled', 'requested'],
    ['requested', 'settled', 'cancelled'],
    ['cancelled', 'settled'],
  ] as const
  return draws
    .pick('withdrawal', orders)
    .map((status) => event('withdrawal.updated', { ...common, status }, draws.below('status after', 4_000)))
}

const purchase: Draw = (source, key) => {
  const { draws } = source
  const payment = {
    wallet: draws.pick('wallet', ['asset', 'reward'] as const),
    currency: draws.pick('currency', currencies),
    amount: drawAmount(draws),
  }
  return event('package.purchased', {
    purchase_id: key,
    user_id: drawUser(source),
    amount: drawAmount(draws),
    at: drawInstant(source),
    ...(draws.happens('paid', 0.5) && { payment }),
  })
}

const join: Draw = (source, key) => {
  const userId = 2_000 + uniqueNumber(key)
  return event('user.registered', {
    user_id: userId,
    email: `user${userId}@example.com`,
    nickname: `Fay ${userId}`,
    referrer_id: drawUser(source),
    registered_at: drawInstant(source),
  })
}

const provision: Draw = ({ draws }, key) => {
  const pool = draws.pick('pool', pools)
  const names = Array.from({ length: draws.below('addresses', 60) + 1 }, (_, i) => `${key}x${i}`)
  return provisionPool(pool, key, names)
}

/** Adds to a pool one deposit address for each name. */
const provisionPool = (
  { currency, network }: (typeof pools)[number],
  batch_id: string,
  names: readonly (string | number)[],
): Operation =>
  event('addresses.provisioned', {
    batch_id,
    currency,
    currency_network: network,
    required_confirmations: 3,
    addresses: names.map((name) => ({ address: `${network.toLowerCase()}${name}` })),
  })

const device: Draw = (source, key) => {
  const { draws } = source
  return event(draws.pick('device', ['device.activated', 'device.activated', 'device.deactivated']), {
    device_id: `device-${draws.below('device id', 3)}`,
    // Makes every `at` different: the contract does not say which of two simultaneous events counts.
    at: source.begin - 1_000 * draws.below('device at', 100_000) - uniqueNumber(key),
    user_id: drawUser(source),
  })
}

/** A number under 1,000 that is different for each operation of a simulation. */
const uniqueNumber = (key: string): number => Number(key.split('-')[1]) % 1_000

const traffic: Draw = (source, key) =>
  event('traffic.reported', {
    report_id: key,
    user_id: drawUser(source),
    device_id: 'device-1',
    bytes: source.draws.pick('bytes', [1, 999_999_999, 1_000_000_000, 123_456_789_012]),
    at: drawInstant(source),
  })

const rates: Draw = (source, key) =>
  event('rates.published', {
    quote: 'USDT',
    as_of: source.begin - 1_000 * source.draws.below('as of', 1_000) - uniqueNumber(key),
    rates: {
      BTC: `${1 + source.draws.below('rate', 90_000)}.5`,
      ...(source.draws.happens('with EUR', 0.5) && { EUR: '1.08' }),
    },
  })

const update: Draw = (source, key) => {
  const { draws } = source
  const userId = drawUser(source)
  const email = draws.happens('same email', 0.3)
    ? `user${drawUser(source)}@example.com`
    : `${key}@example.org`
  const changes = [{ nickname: `Dee ${key}` }, { email }, { nickname: `Eve ${key}`, email }]
  return changeUser(source, key, userId, 'update', changes)
}

function changeUser(source: Source, key: string, userId: number, stream: string, changes: readonly object[]) {
  const at = source.begin - 1_000 * source.draws.below('update at', 1_000) - uniqueNumber(key)
  const change = source.draws.pick(stream, changes)
  return event('user.updated', { update_id: key, user_id: userId, at, ...change })
}

const address: Draw = (source) => ({
  after: 0,
  kind: 'address',
  userId: drawUser(source),
  ...source.draws.pick('pool', pools),
})

const deposit: Draw = (source, key) => {
  const { draws } = source
  const userId = drawUser(source)
  const { currency, network } = draws.pick('pool', pools)
  const common = {
    currency_network: network,
    txid: `tx-${key}`,
    output_index: draws.below('output', 2),
    currency,
    amount: drawAmount(draws),
    at: drawInstant(source),
  }
  const orders = [
    ['confirmed'],
    ['pending', 'confirmed'],
    ['pending', 'confirming', 'confirmed'],
    ['confirmed', 'pending'],
    ['pending', 'failed'],
    ['failed', 'confirmed'],
    ['confirming'],
  ] as const
  return [
    { after: 0, kind: 'address', userId, currency, network },
    ...draws.pick('deposit', orders).map((status, i): Operation => ({
      after: (i === 0 ? 5_000 : 0) + draws.below('deposit after', 4_000),
      kind: 'deposit',
      userId,
      detail: { ...common, status, confirmations: draws.below('confirmations', 5) },
    })),
  ]
}

const note: Draw = (source, key) => ({
  after: 0,
  kind: 'note',
  userId: drawUser(source),
  target: drawUser(source),
  note: source.draws.pick('note', ['', `about ${uniqueNumber(key)}`, '€'.repeat(20)]),
})

const read: Draw = (source) => ({
  after: 0,
  kind: 'read',
  userId: drawUser(source),
  what: source.draws.pick('read', [
    'account/info',
    'account/bills',
    'dashboard/overview',
    'community/members',
  ]),
})

const signIn: Draw = (source) => {
  const { draws } = source
  const userId = drawUser(source)
  const uses = [
    [],
    ['exchange'],
    ['consent'],
    ['consent, code used twice', 'exchange'],
    ['consent, code used at once'],
    ['consent', 'exchange', 'logout'],
    ['logout', 'exchange', 'logout'],
  ] as const
  const plan: SignInPlan = {
    userId,
    email: draws.pick('spelling', [`user${userId}@example.com`, `User${userId}@EXAMPLE.com`]).toLowerCase(),
    password: draws.happens('wrong password', 0.15) ? passwordOf(0) : passwordOf(userId),
    method: userId % 2 === 0 && draws.happens('authenticator', 0.7) ? 'AUTHENTICATOR' : 'EMAIL',
    wrongCodes: draws.pick('wrong codes', [0, 0, 0, 1, 5]),
    simultaneous: draws.pick('simultaneous', [1, 1, 2, 3]),
    uses: draws.pick('uses', uses),
  }
  const network = draws.below('network', 65_536).toString(16)
  return [{ after: 0, kind: 'signIn', plan, source: `2001:db8:${network}::1`, secret: totpSecretOf(userId) }]
}

const newSecrets: Draw = (source, key) => {
  const userId = drawUser(source)
  const changes = [
    { login_password: passwordOf(userId, 1) },
    { login_password: passwordOf(userId) },
    { totp_secret: totpSecretOf(userId) },
    { disabled: true },
    { disabled: false },
  ]
  return changeUser(source, key, userId, 'secrets', changes)
}

const rotate: Draw = ({ draws }) => ({
  after: draws.pick('rotate after', [0, 0, 6 * 3_600_000]),
  kind: 'rotate',
  input: draws.pick('rotate', [{}, { action: 'rotate' }, { action: 'rotate', emergency: true }]),
})

const mailDown: Draw = () => [{ after: 0, kind: 'mailDown', milliseconds: 600_000 }]

const throttle: Draw = () => [{ after: 0, kind: 'throttle', share: 0.3, milliseconds: 60_000 }]

const disableKey: Draw = () => [{ after: 0, kind: 'disableKey' }]

const kinds = {
  ...{ adjust, reward, transfer, withdraw, purchase, join, device, traffic, rates, update, provision },
  ...{ address, deposit, note, read, throttle, signIn, newSecrets, rotate, mailDown, disableKey },
}
type Kind = keyof typeof kinds

const signInKinds: readonly Kind[] = [
  ...Array.from({ length: 8 }, () => 'signIn' as const),
  ...(['newSecrets', 'rotate', 'mailDown', 'throttle', 'disableKey'] as const),
]

const moneyKinds: readonly Kind[] = [
  ...(['adjust', 'adjust', 'adjust', 'reward', 'reward', 'transfer', 'transfer', 'withdraw'] as const),
  ...(['withdraw', 'purchase', 'purchase', 'join', 'device', 'traffic', 'rates', 'update'] as const),
  ...(['provision', 'address', 'deposit', 'deposit', 'note', 'read', 'throttle'] as const),
]

/** Sends an earlier event again, unchanged or with another amount under the same business key. */
function repeat({ draws, sent }: Source): Operation {
  const earlier = draws.pick('sent', sent)
  const changes = draws.happens('other content', 0.4) && 'amount' in earlier.detail ? { amount: '7.77' } : {}
  return { ...earlier, after: 0, detail: { ...earlier.detail, ...changes } }
}
