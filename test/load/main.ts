// Starts a local stack, sends it many reads, sign-ins and events, and verifies the ledger afterwards:
//   npm run test:load [-- --seconds 60]
import autocannon, { type Options, type Request } from 'autocannon'
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { demoUsers } from '../../infra/local/demo/demo-users.ts'
import type { TestUser } from '../support/sign-in.ts'
import { startUnthrottledStack } from '../support/start-unthrottled-stack.ts'
import '../support/silence-log.ts'

/** The state of a connection: a user, and the login ticket and token that the user received. */
interface Context {
  user?: TestUser | undefined
  login_ticket?: string
  access_token?: string
}

const { seconds = '60' } = parseArgs({ options: { seconds: { type: 'string' } } }).values
const maxSeconds = 3_600
const duration = Math.min(Number(seconds), maxSeconds)
const userCount = 20
const reads = [
  '/account/info',
  '/account/bills?current=1&size=20',
  '/account/bills?current=2&size=20&currency=USDT&amountDirection=1&beginTime=2026-01-01',
  '/account/asset',
  '/bonus-account/bills?current=1&size=20',
  '/community/members?type=COMMUNITY&current=1&size=20',
  '/community/members?type=COMMUNITY&keyword=bob&current=1&size=20',
  '/dashboard/overview',
  '/dashboard/earnings',
  '/deposit/records?current=1&size=20',
]

await using stack = await startUnthrottledStack()
// Imported after the stack has started, because these modules read the environment when they are loaded.
const { runOps } = await import('../../infra/ops/command-line.ts')
const { scopes } = await import('../../shared/tokens/scopes.ts')
const { createAccessToken } = await import('../support/community.ts')
const { putEvents } = await import('../support/put-event.ts')
const { authenticatorCode, createUser } = await import('../support/sign-in.ts')
const failures: string[] = []

const alice = demoUsers[0]?.user_id ?? 0
const token = await createAccessToken(alice, [...scopes])
const events = sendEvents(alice)
await load('reads', {
  duration,
  headers: { authorization: `Bearer ${token}` },
  requests: reads.map((path) => ({ path })),
})
await load('sign-ins', { amount: 3 * userCount, requests: await signInSteps() })
console.log(`${await events} events`)
const code = await runOps(['--url', stack.baseUrl, 'ledger', 'verify'], {
  out: console.log,
  err: console.error,
  readInput: async function* () {},
})
process.exitCode = code === 0 && failures.length === 0 ? 0 : 1

async function load(what: string, options: Omit<Options, 'url'>) {
  const result = await autocannon({ url: stack.baseUrl, connections: 4, ...options })
  const { latency, requests } = result
  const failed = requests.total - result['2xx'] + result.errors
  if (failed > 0) failures.push(what)
  console.log(
    `${what}: ${requests.total} requests, ${requests.average} a second, ` +
      `ms ${latency.p50} median, ${latency.p99} at 99 %, ${latency.max} at most; ${failed} failed`,
  )
}

/** Sends events for `duration` seconds. Repeats one event in five. Resolves with the number of bills. */
async function sendEvents(userId: number): Promise<number> {
  const end = Date.now() + duration * 1000
  let count = 0
  while (Date.now() < end) {
    const details = Array.from({ length: 5 }, (_, i) => ({
      adjustment_id: randomUUID(),
      user_id: userId,
      wallet: i % 2 === 0 ? 'asset' : 'reward',
      currency: 'USDT',
      amount: '0.000000000000000001',
      direction: 1,
      reason: 'load',
      at: Date.now(),
    }))
    await putEvents('wallet.adjusted', [...details, ...details.slice(0, 1)])
    count += details.length
  }
  return count
}

/** Signs new users in and out, each user once, because an authenticator code works only once. */
async function signInSteps(): Promise<Request[]> {
  const users: TestUser[] = []
  // Creates one user after another. If all passwords were hashed at once, AWS calls could time out.
  while (users.length < userCount) users.push(await createUser())
  const codes = new Map<string, string>()
  for (const { email, totpSecret } of users) codes.set(email, await authenticatorCode(totpSecret))
  const post = (path: string, bodyOf: (context: Context) => object): Request => ({
    method: 'POST',
    path,
    setupRequest: (request, context: Context) => ({
      ...request,
      headers: {
        ...request.headers,
        'content-type': 'application/json',
        authorization: `Bearer ${context.access_token ?? ''}`,
      },
      body: JSON.stringify(bodyOf(context)),
    }),
    onResponse(_status, body, context: Context) {
      Object.assign(context, (JSON.parse(body) as { data: Context | null }).data)
    },
  })
  const login = (context: Context) => {
    context.user = users.pop()
    return { email: context.user?.email, login_password: context.user?.password }
  }
  const verify = ({ user, login_ticket }: Context) => ({
    email: user?.email,
    login_ticket,
    method: 'AUTHENTICATOR',
    authenticator_code: codes.get(user?.email ?? ''),
  })
  return [
    post('/user/login-with-password', login),
    post('/user/login/2fa', verify),
    post('/user/logout', ({ user }) => ({ id: String(user?.userId) })),
  ]
}
