import { randomInt, randomUUID } from 'node:crypto'
import { readProfile } from '../../shared/community/profile.ts'
import { readWallet, type WalletName } from '../../shared/ledger/wallet.ts'
import { isUnavailable } from '../../shared/faults.ts'
import { Big, zero } from '../../shared/money.ts'
import { retry } from '../../shared/retry.ts'
import { newRegistration, type TestUser } from '../support/sign-in.ts'
import { putEvents } from '../support/put-event.ts'

/** A user, and what the events that were sent make of their money. */
export interface Person extends TestUser {
  referrer: Person | undefined
  balances: Record<WalletName, Big>
  purchases: Big
  /** Members who joined below this one. */
  recruits: number
  /** When this user may sign in by authenticator again, epoch milliseconds: a time step counts once. */
  nextSignIn: number
}

/** Puts events on the bus, and again while a busy machine does not take them: they take effect once. */
const putPatiently = (detailType: string, details: readonly object[]): Promise<void> =>
  retry(() => putEvents(detailType, details), isUnavailable)

const treeCount = 4
const people: Person[] = []

/** Registers the people of a run: trees of three levels, and money to spend. */
export async function createPeople(count: number): Promise<Person[]> {
  for (let i = 0; i < count; i += 1) {
    const referrer = i < treeCount ? undefined : people[Math.floor((i - treeCount) / 3)]
    const user = newRegistration(referrer === undefined ? {} : { referrer_id: referrer.userId })
    await putPatiently('user.registered', [user])
    people.push({
      userId: Number(user['user_id']),
      email: String(user['email']),
      password: String(user['login_password']),
      totpSecret: String(user['totp_secret']),
      referrer,
      balances: { asset: zero, reward: zero },
      purchases: zero,
      recruits: 0,
      nextSignIn: 0,
    })
    if (referrer !== undefined) referrer.recruits += 1
  }
  await putPatiently(
    'wallet.adjusted',
    people.flatMap((person) =>
      (['asset', 'reward'] as const).map((wallet) => adjust(person, wallet, '1000000')),
    ),
  )
  return people
}

function adjust(person: Person, wallet: WalletName, amount: string, direction: 1 | 2 = 1): object {
  const signed = direction === 1 ? new Big(amount) : zero.minus(amount)
  person.balances[wallet] = person.balances[wallet].plus(signed)
  const common = { adjustment_id: randomUUID(), user_id: person.userId, wallet, currency: 'USDT' }
  return { ...common, amount, direction, reason: 'load', at: Date.now() }
}

const someone = (): Person => people[randomInt(people.length)] as Person
const someAmount = (): string => `${randomInt(1, 10)}.${String(randomInt(1, 10 ** 9)).padStart(18, '0')}`

/** What may happen to a person, as events of one kind; the model is changed with them. */
const happenings: [detailType: string, make: () => object[]][] = [
  ['wallet.adjusted', () => [adjust(someone(), 'asset', someAmount())]],
  ['wallet.adjusted', () => [adjust(someone(), 'reward', someAmount(), 2)]],
  [
    'wallet.transferred',
    () => {
      const [person, amount] = [someone(), someAmount()]
      person.balances.reward = person.balances.reward.minus(amount)
      person.balances.asset = person.balances.asset.plus(amount)
      const common = { transfer_id: randomUUID(), user_id: person.userId, from: 'reward', to: 'asset' }
      return [{ ...common, currency: 'USDT', amount, at: Date.now() }]
    },
  ],
  [
    'withdrawal.updated',
    () => {
      const [person, amount] = [someone(), someAmount()]
      person.balances.asset = person.balances.asset.minus(amount)
      const common = { withdrawal_id: randomUUID(), user_id: person.userId, currency: 'USDT', amount }
      return ['requested', 'settled'].map((status) => ({ ...common, status, at: Date.now() }))
    },
  ],
  [
    'reward.granted',
    () => {
      const [person, amount] = [someone(), someAmount()]
      person.balances.reward = person.balances.reward.plus(amount)
      const earned_on = new Date().toISOString().slice(0, 10)
      const common = { reward_id: randomUUID(), user_id: person.userId, reward_type: 'LOAD' }
      return [{ ...common, currency: 'USDT', amount, earned_on }]
    },
  ],
  [
    'package.purchased',
    () => {
      const [person, amount] = [someone(), someAmount()]
      person.purchases = person.purchases.plus(amount)
      return [{ purchase_id: randomUUID(), user_id: person.userId, amount, at: Date.now() }]
    },
  ],
  [
    'user.registered',
    () => {
      const referrer = someone()
      referrer.recruits += 1
      const user_id = randomInt(2 ** 40, 2 ** 47)
      const user = { user_id, email: `load-${user_id}@example.com`, nickname: `Load ${user_id}` }
      return [{ ...user, referrer_id: referrer.userId, registered_at: Date.now() }]
    },
  ],
]

/** Sends some events of one kind, and resolves with their number. */
export async function sendEvents(): Promise<number> {
  const [detailType, make] = happenings[randomInt(happenings.length)] ?? ['', () => []]
  const details = Array.from({ length: 5 }, make).flat()
  await putPatiently(detailType, details)
  return details.length
}

/** Compares every person's wallets and place in the tree with the model; resolves with the differences. */
export async function compareWithModel(): Promise<string[]> {
  const differences: string[] = []
  const expectSame = (what: string, expected: Big | number, found: Big | number | undefined) => {
    if (String(found) !== String(expected))
      differences.push(`${what} is ${String(found)}, not ${String(expected)}`)
  }
  for (const person of people) {
    const { userId } = person
    for (const wallet of ['asset', 'reward'] as const) {
      const holding = (await readWallet({ userId, wallet }, { consistent: true })).holdings.get('USDT')
      expectSame(`${wallet} balance of ${userId}`, person.balances[wallet], holding?.balance)
      expectSame(`${wallet} hold of ${userId}`, zero, holding?.hold)
    }
    const profile = await readProfile(userId)
    const below = people.filter((other) => isBelow(other, person))
    const team = below.reduce((sum, { recruits }) => sum + recruits, person.recruits)
    const bought = below.reduce((sum, { purchases }) => sum.plus(purchases), zero)
    expectSame(`direct_count of ${userId}`, person.recruits, profile?.directCount)
    expectSame(`team_count of ${userId}`, team, profile?.teamCount)
    expectSame(`package_amount of ${userId}`, person.purchases, profile?.packageAmount)
    expectSame(`team_performance of ${userId}`, bought, profile?.teamPerformance)
  }
  return differences
}

function isBelow(member: Person, ancestor: Person): boolean {
  for (let at = member.referrer; at !== undefined; at = at.referrer) if (at === ancestor) return true
  return false
}
