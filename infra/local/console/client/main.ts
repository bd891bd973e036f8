import { AuthorizationResponseError, type Configuration } from 'openid-client'
import { make } from '../../../authorization-page/dom.ts'
import { makeApi } from './api.ts'
import { showCommunity } from './community.ts'
import { showEarnings } from './dashboard.ts'
import { showDeposits } from './deposits.ts'
import { makeButton } from './elements.ts'
import * as signIn from './sign-in.ts'
import { readLocal, type Stack, watchStack } from './stack.ts'
import { showToken } from './token.ts'
import { showBalances, showBills } from './wallets.ts'

const place = document.querySelector<HTMLElement>('#client')
if (place === null) throw new Error('the console has no place for the client')

/** Shows the sign-in button, and why the last attempt failed. */
function offerSignIn(config: Configuration, problem?: string): void {
  const how =
    'Sign in as any of the demo users, the way an app does: authorization code, PKCE, consent, device_token.'
  place?.replaceChildren(
    make(
      'section',
      {},
      make('h2', {}, 'Try it'),
      make('p', {}, how),
      make('p', { class: 'problem', role: 'alert' }, problem),
      makeButton('Sign in with demo-app', () => void signIn.beginSignIn(config), { class: 'primary' }),
    ),
  )
}

function showSession(config: Configuration, session: signIn.Session): void {
  const api = makeApi(baseUrl, session.accessToken, () => {
    signIn.forgetSession()
    offerSignIn(config, 'Your session has ended.')
  })
  const leave = () =>
    void signIn.signOut(config, session).then(
      () => offerSignIn(config),
      (error: unknown) => offerSignIn(config, `Signed out here only: ${String(error)}`),
    )
  const { name, email, sub } = session.claims as { name?: string; email?: string; sub: string }
  const who = make('p', {}, 'Signed in as ', make('strong', {}, name ?? sub), ` ${email ?? ''}`)
  place?.replaceChildren(
    make('section', { class: 'who' }, who, makeButton('Sign out', leave)),
    ...[showBalances, showEarnings, showBills, showCommunity, showDeposits].map((show) => show(api)),
    showToken(config.serverMetadata(), session),
  )
}

/** Finds the session in the URL (after a sign-in) or in the tab; a text if the sign-in failed. */
async function findSession(config: Configuration): Promise<signIn.Session | string | undefined> {
  if (location.pathname !== signIn.callbackPath) return signIn.readSession()
  try {
    return await signIn.finishSignIn(config)
  } catch (error) {
    if (error instanceof AuthorizationResponseError && error.error === 'access_denied')
      return 'You did not allow it, and nothing was shared.'
    return error instanceof Error ? error.message : String(error)
  } finally {
    // Removes the used authorization code from the URL and the history.
    history.replaceState(null, '', '/_local/')
  }
}

watchStack()
const { base_url: baseUrl } = await readLocal<Stack>('stack')
if (location.origin === new URL(baseUrl).origin) {
  const config = await signIn.discover(baseUrl)
  const found = await findSession(config)
  if (typeof found === 'object') showSession(config, found)
  else offerSignIn(config, found)
} else {
  // Moves to the API's own host name, because the issuer in every token is the API's URL with that name.
  location.replace(`${baseUrl}/_local/`)
}
