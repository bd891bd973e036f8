import { depositPools } from '../../infra/local/demo/demo-events.ts'
import { demoUsers } from '../../infra/local/demo/demo-users.ts'
import { depositId } from '../../shared/deposits/deposit.ts'
import { transact } from '../../shared/db/write.ts'
import { issueAccessToken } from '../../shared/tokens/access-token.ts'
import { type Scope, scopes as everyScope } from '../../shared/tokens/scopes.ts'
import { md5 } from '../support/sign-in.ts'

/** The demo user Alice makes most requests, because she has data of every kind. */
const alice = demoUsers[0]?.user_id ?? 0

/** Issues an access_token for Alice; by default a first-party token with every scope, valid for two hours. */
async function issue(
  changes: { clientId?: string; scopes?: readonly Scope[]; lifeSeconds?: number } = {},
): Promise<string> {
  const { clientId = 'first-party', scopes = everyScope, lifeSeconds = 7_200 } = changes
  const now = Date.now()
  const { accessToken, put } = issueAccessToken({
    userId: alice,
    clientId,
    scopes,
    firstParty: clientId === 'first-party',
    expiresAt: now + lifeSeconds * 1000,
    authenticatedAt: now,
  })
  await transact([put])
  return accessToken
}

const caller = (authorization: string, scopes: readonly string[] = [], firstParty = false) => ({
  authorization,
  scopes,
  firstParty,
})

/**
 * Creates the users and tokens with which requests are sent, and finds real values for parameters. Alice has
 * many sessions, because some requests end a session.
 */
export async function describeActors() {
  const alices: string[] = []
  for (let i = 0; i < 300; i += 1) alices.push(await issue())
  const [token = ''] = alices
  const [expired, narrow, ofClient] = await Promise.all([
    issue({ lifeSeconds: -10 }),
    issue({ clientId: 'demo-app', scopes: ['openid'] }),
    issue({ clientId: 'demo-app' }),
  ])
  const ids = demoUsers.map(({ user_id: id }) => id)
  return {
    alices: alices.map((one) => `Bearer ${one}`),
    strangers: [
      caller(`Bearer ${narrow}`, ['openid']),
      caller(`Bearer ${ofClient}`, everyScope),
      ...['', 'Bearer', `Bearer ${token} ${token}`, `Token ${token}`].map((text) => caller(text)),
      ...[`Bearer ${expired}`, `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`].map((text) =>
        caller(text),
      ),
      ...['Basic Og==', 'Basic %%%', `Bearer at_zz.${'A'.repeat(22)}.${'A'.repeat(43)}`].map((text) =>
        caller(text),
      ),
    ],
    values: {
      currency: ['USDT', 'usdt', 'BTC'],
      currencyNetWork: ['TRC20', 'bitcoin'],
      businessId: ['DEPOSIT', 'REWARD', 'NONE'],
      keyword: ['Bob', 'b***b@example.com', 'İß', 'zzmarkerzz'],
      target_user_id: ids,
      note: ['met in Lisbon', ' 20 code points 😀😀😀😀', 'zzmarkerzz'],
      email: ['alice@example.com', ' ALICE@EXAMPLE.COM ', 'zzmarkerzz@fuzz.example'],
      login_password: [md5('correct horse battery')],
      client_id: ['demo-app', 'first-party'],
      redirect_uri: ['http://127.0.0.1:4000/callback'],
      scope: ['openid', everyScope.join(' ')],
      state: ['zzmarkerzz', 's'.repeat(4096)],
      nonce: ['zzmarkerzz'],
      access_token: alices.slice(200),
      token: alices.slice(250),
      id: [
        String(alice),
        depositId({ network: depositPools[0]?.network ?? '', txid: 'demo-transaction-1', outputIndex: 0 }),
      ],
    },
  }
}
