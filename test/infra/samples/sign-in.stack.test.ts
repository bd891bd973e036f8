import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { handler as adjustWallet } from '../../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { followAuthorization } from '../../support/browser.ts'
import { installPython } from '../../support/install-python.ts'
import { adjustment } from '../../support/ledger.ts'
import { createClient, createSession } from '../../support/oauth-clients.ts'
import { stack } from '../../support/oauth.ts'

const programs: [language: string, ...command: string[]][] = [['Node.js', 'npm', 'run', 'sample']]
// Only the long tests of .ci/run try the sample in Python: `npm test` needs no Python.
if (process.env['WITH_PYTHON'] !== undefined)
  programs.push(['Python', join(installPython(), 'python'), 'infra/samples/sign-in.py'])

it.each(programs)(
  'the %s sample signs a user in, and shows a page of bills in which amounts have all their digits',
  async (_language, program = '', ...args) => {
    const session = await createSession()
    const { clientId } = await createClient({ redirectUris: ['http://127.0.0.1/callback'] })
    await applyEvent(adjustWallet, adjustment(session.userId, { amount: '0.100000000000000001' }))
    const env = { ...process.env, ISSUER: stack.base_url, CLIENT_ID: clientId, PORT: '0' }
    const sample = spawn(program, args, { env })
    let shown = ''
    for (const stream of [sample.stdout, sample.stderr])
      stream.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    const toOpen = () => /^(?:open| \* Running on) (http\S+)$/m.exec(shown)?.[1]
    const first = new URL(await vi.waitUntil(toOpen, 20_000))
    // The Python sample serves a page itself: this sets a cookie and redirects the browser to the sign-in.
    const page = first.pathname === '/' ? await fetch(first, { redirect: 'manual' }) : undefined
    const answer = await followAuthorization(new URL(page?.headers.get('location') ?? first), session)
    const cookie = page?.headers.get('set-cookie') ?? ''
    shown += await (await fetch(answer, { headers: { cookie } })).text()
    await vi.waitUntil(() => shown.includes('0.100000000000000001'), 20_000)
    expect(shown).toContain(
      `${session.email} has 1 bills, of which the newest are\nADJUSTMENT_CREDIT 0.100000000000000001 USDT`,
    )
  },
)
