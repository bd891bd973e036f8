import { randomUUID } from 'node:crypto'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { endpointFunctions } from '../../../infra/endpoint-functions.ts'
import { events } from '../../../infra/events.ts'
import { backgroundScenarios } from '../../infra/grants/background-scenarios.ts'
import type { Scenario } from '../../infra/grants/calls.ts'
import { dataScenarios } from '../../infra/grants/data-scenarios.ts'
import { eventScenarios } from '../../infra/grants/event-scenarios.ts'
import { signInScenarios } from '../../infra/grants/sign-in-scenarios.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { createSession } from '../../support/oauth-clients.ts'
import { createUser } from '../../support/sign-in.ts'
import { toSqsEvent } from '../../support/sqs-event.ts'

/** A request, event, message or scheduled run whose cost the benchmark prints. */
export interface Operation {
  title: string
  /** Name of the function. */
  of: string
  /** A test scenario that calls the function, once or several times. */
  scenario: Scenario
  /** The index of the measured call among the calls of the scenario. */
  call: number
  /** What calls the function: a client, the bus (`event`), a queue (`message`) or a schedule (`run`). */
  kind: 'request' | 'event' | 'message' | 'run'
}

const scenarios: Record<string, Scenario> = {
  ...signInScenarios,
  ...dataScenarios,
  ...eventScenarios,
  ...backgroundScenarios,
  'well-known-openid-configuration': ({ request }) => request(),
}

async function addBills(userId: number, count: number): Promise<void> {
  for (let bill = 0; bill < count; bill += 1) await applyEvent(walletAdjusted, adjustment(userId))
}

const pageOfBills: Scenario = async (calls) => {
  const { accessToken, userId } = await createSession()
  await addBills(userId, 20)
  await calls.request({ token: accessToken, query: { current: '1', size: '20' } })
}

const furtherBill: Scenario = async ({ deliver }) => {
  const userId = await addUser()
  await addBills(userId, 1)
  await deliver(adjustment(userId))
}

const repeatedEvent: Scenario = async ({ deliver }) => {
  const detail = adjustment(await addUser())
  await deliver(detail)
  await deliver(detail)
}

/** The last receive of an event that lacks funds: it has waited its minute, and is refused. */
const uncoveredEvent: Scenario = async ({ deliver }) => {
  const userId = await addUser()
  await addBills(userId, 1)
  await deliver(adjustment(userId, { amount: '2', direction: 2 }))
}

/** An earlier receive of an event that lacks funds: it is tried once. */
const waitingEvent: Scenario = async ({ run }) => {
  const userId = await addUser()
  await addBills(userId, 1)
  const detail = adjustment(userId, { amount: '2', direction: 2 })
  await run(toSqsEvent([{ body: JSON.stringify({ id: randomUUID(), detail }), receives: 10 }]))
}

const passwordOfAuthenticatorUser: Scenario = async (calls) => {
  const { email, password } = await createUser()
  await calls.request({ json: { email, login_password: password } })
}

const transfer: Scenario = async ({ deliver }) => {
  const userId = await addUser()
  for (const wallet of ['asset', 'reward'])
    await applyEvent(walletAdjusted, adjustment(userId, { wallet, amount: '9' }))
  await deliver({
    transfer_id: randomUUID(),
    user_id: userId,
    from: 'asset',
    to: 'reward',
    currency: 'USDT',
    amount: '1',
    at: Date.now(),
  })
}

/** Which call to measure. Default: the first call that the function's permission test makes. */
type Measured = Partial<Pick<Operation, 'scenario' | 'call'>>

/**
 * For each function, the calls to measure, keyed by the last words of `Operation.title`. For a function that
 * is not listed, only the first call of its permission test is measured.
 */
const calls: Record<string, Record<string, Measured>> = {
  'user-login-with-password': {
    'with a mail': { call: 1 },
    authenticator: { scenario: passwordOfAuthenticatorUser },
  },
  'user-login-2fa': { 'mailed code': {}, authenticator: { call: 1 } },
  'account-bills': { '20 bills': { scenario: pageOfBills }, 'with a date': { call: 1 } },
  'community-members': { '': {}, keyword: { call: 1 } },
  'intake-mail-delayed': { needed: {}, 'not needed': { call: 1 } },
  'intake-wallet-adjusted': {
    'the first bill': {},
    'a further bill': { scenario: furtherBill },
    'sent again': { scenario: repeatedEvent, call: 1 },
    'lacks funds, a try': { scenario: waitingEvent },
    'lacks funds, refused': { scenario: uncoveredEvent },
  },
  'intake-wallet-transferred': { '': { scenario: transfer } },
  'intake-withdrawal-updated': {
    'requested, with a chunk of the index': {},
    'settled, with a fee': { call: 1 },
  },
  'intake-addresses-provisioned': { 'two addresses': {} },
  'intake-deposit-updated': { pending: {}, confirmed: { call: 1 } },
  'worker-grow-tree': { 'one newcomer, purchase and new name': { call: 1 } },
  'rotate-signing-keys': { 'nothing due': { scenario: ({ run }) => run({}) } },
  'verify-ledger': {
    'nothing due': {
      scenario: async ({ run }) => {
        await run({})
        await run({})
      },
      call: 1,
    },
  },
}

/** A function to measure. The titles of its operations begin with its `name`. */
type Called = [kind: Operation['kind'], of: string, name: string]

const functions: Called[] = [
  ...endpointFunctions().flatMap(({ entry, routes }) =>
    routes
      .slice(0, 1)
      .map(({ method, path }): Called => ['request', entry.replaceAll('/', '-'), `${method} ${path}`]),
  ),
  ...events.map(({ detailType }): Called => [
    'event',
    `intake-${detailType.replaceAll('.', '-')}`,
    detailType,
  ]),
  ['message', 'worker-grow-tree', 'grow-tree'],
  ['run', 'rotate-signing-keys', 'rotate-signing-keys'],
  ['run', 'verify-ledger', 'verify-ledger'],
]

/** All measured operations, at least one for every measured function. */
export const operations: Operation[] = functions.flatMap(([kind, of, name]) =>
  Object.entries(calls[of] ?? { '': {} }).map(([what, measured]): Operation => {
    const scenario = measured.scenario ?? scenarios[of]
    if (scenario === undefined) throw new Error(`the tests of the grants do not call ${of}`)
    return { title: what === '' ? name : `${name}, ${what}`, of, call: 0, kind, ...measured, scenario }
  }),
)
