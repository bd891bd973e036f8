import { UserManager, WebStorageStateStore } from 'oidc-client-ts'

/** Address of the service. The server that delivers the page writes it into the page. */
export const baseUrl = document.querySelector<HTMLMetaElement>('meta[name=base-url]')?.content ?? ''

/**
 * The OpenID client: code flow with PKCE; it makes and checks state and nonce. The tab keeps the tokens until
 * it is closed. Nothing renews them, because the service has no refresh tokens.
 */
export const users = new UserManager({
  authority: baseUrl,
  client_id: 'sample-wallet',
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid profile email account.read community.read community.write dashboard.read deposit.read',
  stateStore: new WebStorageStateStore({ store: sessionStorage }),
  revokeTokensOnSignout: true,
  revokeTokenTypes: ['access_token'],
  automaticSilentRenew: false,
})

/** Forgets a session that has ended. The page hears of it by `users.events`. */
export const endSession = (): void => void users.removeUser()
users.events.addAccessTokenExpired(endSession)

/** Sends the browser to the service to sign in. Afterwards, the app shows the page that is open now. */
export const signIn = (): Promise<void> =>
  users.signinRedirect({ nonce: crypto.randomUUID(), state: location.pathname + location.search })

/** Finishes a sign-in when the browser has come back. Returns what to tell the user if it has failed. */
export async function finishSignIn(): Promise<string> {
  if (location.pathname !== '/callback') return ''
  // Removes the code from the address at once, so that it is neither bookmarked nor sent again.
  const address = location.href
  history.replaceState(null, '', '/')
  if (address.includes('error=access_denied')) return 'You did not allow access.'
  try {
    const user = await users.signinRedirectCallback(address)
    history.replaceState(null, '', user.state as string)
    return ''
  } catch {
    return 'The sign-in did not succeed, or took too long. Try again.'
  }
}

/** Revokes the access token, and ends the user's session at the service too. */
export const signOut = (): Promise<void> => users.signoutRedirect()
