import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { handler as adjustWallet } from '../../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { followAuthorization } from '../../support/browser.ts'
import { installPython } from '../../support/install-python.ts'
import { adjustment } from '../../support/ledger.ts'
import { createClient, createSession, type SignedIn } from '../../support/oauth-clients.ts'
import { stack } from '../../support/oauth.ts'

const inNode = ['Node.js', 'npm', 'run', '--silent', 'sample']
const programs = [inNode]
// Only the long tests of .ci/run try the Python sample, so `npm test` needs no Python.
if (process.env['WITH_PYTHON'] !== undefined)
  programs.push(['Python', join(installPython(), 'python'), 'infra/samples/sign-in.py'])

/** Makes JSON.parse behave as before Node.js 22, which added a third argument for revivers. */
const asInNode20 =
  '--import "data:text/javascript,const{parse}=JSON;JSON.parse=(t,f)=>parse(t,f&&((k,v)=>f(k,v)))"'

/** Runs a sample: a user signs in, and allows or denies access. Resolves with what the sample shows. */
async function run([, program = '', ...args]: string[], user: SignedIn, approved = true, env = {}) {
  const { clientId: CLIENT_ID } = await createClient({ redirectUris: ['http://127.0.0.1/callback'] })
  const defaults = { ISSUER: stack.base_url, PORT: '0', CLIENT_ID, NODE_OPTIONS: asInNode20 }
  const sample = spawn(program, args, { env: { ...process.env, ...defaults, ...env } })
  const ended = once(sample, 'close')
  let shown = ''
  for (const stream of [sample.stdout, sample.stderr])
    stream.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  const toOpen = () => /^(?:open| \* Running on) (http\S+)$/m.exec(shown)?.[1]
  const address = await Promise.race([vi.waitUntil(toOpen, 20_000), ended])
  if (typeof address !== 'string') return shown
  // The sample in Python serves two pages. The first page sets a cookie, which the second page needs.
  const first = new URL(address)
  const page = first.pathname === '/' ? await fetch(first, { redirect: 'manual' }) : undefined
  const request = new URL(page?.headers.get('location') ?? first)
  const answer = await followAuthorization(request, user, { approved })
  const cookie = page?.headers.get('set-cookie') ?? ''
  const text = await (await fetch(answer, { headers: { cookie } })).text()
  if (page !== undefined) return text
  await ended
  return shown
}

it.each(programs)(
  'the %s sample shows bills with all digits of their amounts, or says that the user denied access',
  async (...program) => {
    const user = await createSession()
    await applyEvent(adjustWallet, adjustment(user.userId, { amount: '0.100000000000000001' }))
    expect(await run(program, user)).toContain(
      `${user.email} has 1 bills, of which the newest are\nADJUSTMENT_CREDIT 0.100000000000000001 USDT`,
    )
    expect(await run(program, user, false)).toMatch(/^(open .+\nAccess was denied\.\n|access_denied: .+)$/)
  },
)

const { port } = new URL(stack.base_url)

it.each([
  ['nothing answers at ISSUER', { ISSUER: 'http://127.0.0.1:4' }, /^Nothing .+: .+ "ready" prints\.\n$/],
  ['ISSUER has another name', { ISSUER: `http://localhost:${port}` }, /^.+: set ISSUER to .+\n$/],
  ['PORT is in use', { PORT: port }, /^Port \d+ is in use: set PORT .+\n$/],
])('if %s, the Node.js sample prints one line that says what to set', async (_case, env, hint) => {
  expect(await run(inNode, await createSession(), true, env)).toMatch(hint)
})
