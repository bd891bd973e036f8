import { AuthorizationResponseError, type AuthorizationServer } from 'oauth4webapi'
import { make } from '../../../authorization-page/dom.ts'
import { makeApi } from './api.ts'
import { showBalances } from './panels/balances.ts'
import { showBills } from './panels/bills.ts'
import { showCommunity } from './panels/community.ts'
import { showDeposit } from './panels/deposit.ts'
import { showEarnings } from './panels/earnings.ts'
import { showToken } from './panels/token.ts'
import {
  beginSignIn,
  callbackPath,
  discover,
  finishSignIn,
  forgetSession,
  readSession,
  type Session,
  signOut,
} from './sign-in.ts'
import { type Stack } from './stack/facts.ts'
import { readLocal } from './stack/read-local.ts'
import { watchStack } from './watch-stack.ts'

const place = document.querySelector<HTMLElement>('#client')
if (place === null) throw new Error('the page has no place for the client')

/** Offers to sign in, with a word on why the last attempt gave nothing. */
function offerSignIn(server: AuthorizationServer, problem?: string): void {
  const begin = () => void beginSignIn(server)
  place?.replaceChildren(
    make(
      'section',
      { class: 'offer' },
      make('h2', {}, 'Try it'),
      make(
        'p',
        {},
        'Sign in as any of the demo users, the way an app does: authorization code, PKCE, consent, device_token.',
      ),
      make('p', { class: 'problem', role: 'alert' }, problem),
      make('button', { type: 'button', class: 'primary', onclick: begin }, 'Sign in with demo-app'),
    ),
  )
}

function showSession(server: AuthorizationServer, session: Session): void {
  const api = makeApi(server.issuer, session.accessToken, () => {
    forgetSession()
    offerSignIn(server, 'Your session has ended.')
  })
  const leave = () =>
    void signOut(server, session).then(
      () => offerSignIn(server),
      (error: unknown) => offerSignIn(server, `Signed out here only: ${String(error)}`),
    )
  const { name, email, sub } = session.claims as { name?: string; email?: string; sub: string }
  place?.replaceChildren(
    make(
      'section',
      { class: 'who' },
      make('p', {}, 'Signed in as ', make('strong', {}, name ?? sub), ` ${email ?? ''}`),
      make('button', { type: 'button', onclick: leave }, 'Sign out'),
    ),
    showBalances(api),
    showEarnings(api),
    showBills(api),
    showCommunity(api),
    showDeposit(api),
    showToken(server, session),
  )
}

/** The session that the address or the tab holds, or why there is none. */
async function findSession(server: AuthorizationServer): Promise<Session | string | undefined> {
  if (location.pathname !== callbackPath) return readSession()
  try {
    return await finishSignIn(server)
  } catch (error) {
    if (error instanceof AuthorizationResponseError && error.error === 'access_denied')
      return 'You did not allow it, and nothing was shared.'
    return error instanceof Error ? error.message : String(error)
  } finally {
    // The code has been used, and has no business in the history.
    history.replaceState(null, '', '/_local/')
  }
}

watchStack()
const { base_url: baseUrl } = await readLocal<Stack>('stack')
if (location.origin === new URL(baseUrl).origin) {
  const server = await discover(baseUrl)
  const found = await findSession(server)
  if (typeof found === 'object') showSession(server, found)
  else offerSignIn(server, found)
} else {
  // By another name of this machine the page could not call the API, whose address is part of every token.
  location.replace(`${baseUrl}/_local/`)
}
