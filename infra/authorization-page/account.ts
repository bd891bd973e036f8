import type { AuthorizationRequest } from './authorization-request.ts'
import { isAllowed, keeps, readSession } from './device.ts'
import type { Account } from './sign-in-api.ts'
import type { TabState } from './tab-state.ts'

/**
 * Chooses the account for a request: the one that has signed in for it in this tab, or else the one that this
 * device keeps, if the request may be answered with it.
 */
export function chooseAccount(request: AuthorizationRequest, state: TabState): Account | undefined {
  const { account, kept } = state
  if (account !== undefined && account.expire > Date.now() && (!kept || keeps(account))) return account
  const session = readSession()
  return session !== undefined && mayAnswer(session, request) ? session : undefined
}

/**
 * Whether a session that was there before the request may answer it. `max_age` is judged to the second here;
 * the service adds the time to decide, because it does not know when the request was made.
 */
function mayAnswer({ userId, authenticatedAt }: Account, request: AuthorizationRequest): boolean {
  const { prompts, maxAge, hint } = request
  if (prompts.includes('login') || Date.now() - authenticatedAt > maxAge * 1000) return false
  return hint === undefined || hint.userId === userId
}

/** Whether the app expects the account with this email address, or none in particular (`login_hint`). */
const isExpected = ({ email }: Account, { loginHint }: AuthorizationRequest): boolean =>
  !loginHint.includes('@') || loginHint.trim().toLowerCase() === email.toLowerCase()

/**
 * Whether the request may be answered without a click: the user has allowed this app these scopes on this
 * device, the app does not ask for a click, and it expects this account or the account signed in for it.
 */
export function needsNoClick(request: AuthorizationRequest, account: Account, state: TabState): boolean {
  const { prompts, clientId, scopes, remembersConsent, hint } = request
  if (!remembersConsent || prompts.includes('consent')) return false
  if (hint !== undefined && hint.userId !== account.userId) return false
  const signedInHere = state.account?.accessToken === account.accessToken
  if (!signedInHere && (prompts.includes('select_account') || !isExpected(account, request))) return false
  return isAllowed(account.userId, clientId, scopes)
}

/** The error that ends a request with `prompt=none`; undefined if the account may answer it. */
export function silentError(
  request: AuthorizationRequest,
  account: Account | undefined,
): 'login_required' | 'consent_required' | 'interaction_required' | undefined {
  if (account === undefined || !isExpected(account, request)) return 'login_required'
  if (!request.remembersConsent) return 'interaction_required'
  return isAllowed(account.userId, request.clientId, request.scopes) ? undefined : 'consent_required'
}
