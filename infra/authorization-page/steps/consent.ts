import type { Scope } from '../../../shared/tokens/scopes.ts'
import { ApiFailure } from '../api.ts'
import { allow, forgetSession, keeps } from '../device.ts'
import { appName, icon, make, makeButton, showDestination } from '../dom.ts'
import { makeForget } from '../forget.ts'
import { makeAlert, makeGuard } from '../form.ts'
import { explain } from '../messages.ts'
import { type Account, sendDecision, sessionEnded, signOut } from '../sign-in-api.ts'
import type { SignInFlow, View } from '../step.ts'
import { invalidRequest, showLeaving, showRefused } from './ending.ts'

/** What each OAuth scope lets an app do; completes the sentence "It will be able to …". */
const descriptions: Record<Scope, string> = {
  openid: 'know that it is you, by your member number',
  profile: 'see your nickname',
  email: 'see your email address',
  'account.read': 'see your balances and transactions in both wallets',
  'community.read': 'see the members of your community',
  'community.write': 'change your notes on people you referred',
  'dashboard.read': 'see your rewards, earnings, devices and traffic',
  'deposit.read': 'see your deposit addresses and deposits',
}

/** Describes an OAuth scope to the user. A scope that has no description here is shown unchanged. */
const describeScope = (scope: string): string => (descriptions as Record<string, string>)[scope] ?? scope

/**
 * Shows the step that asks the user to allow or deny the app's request. A user whose session the device has
 * kept decides and continues by one click.
 */
export function showConsent(flow: SignInFlow, account: Account): View {
  const { request } = flow
  if (isAnother(flow, account)) return showAnotherExpected(flow, account)
  const { alert, decide, changeAccount } = makeActions(flow, account)
  const isContinuing = flow.state.account === undefined
  const deny = makeButton('secondary', 'Deny', decide(false))
  const allow = makeButton('primary', isContinuing ? `Continue as ${account.email}` : 'Allow', decide(true))
  return {
    title: 'Allow access?',
    content: [
      make('p', { class: 'lead' }, appName(request.clientName), ' asks to use your account.'),
      showAccount(account, changeAccount),
      make('h2', {}, 'It will be able to'),
      make(
        'ul',
        { class: 'scopes' },
        ...request.scopes.map((scope) =>
          make('li', {}, icon('tick'), make('span', {}, describeScope(scope))),
        ),
      ),
      make('p', { class: 'fine' }, 'It cannot move money, and it never sees your password.'),
      alert.element,
      isContinuing
        ? make('div', { class: 'decision stacked' }, allow, deny)
        : make('div', { class: 'decision' }, deny, allow),
      showDestination(request.destination),
      makeForget() ?? '',
    ],
  }
}

/** Answers the request without a click. Shows the consent step if the service does not take the answer. */
export async function passThrough(flow: SignInFlow, account: Account): Promise<void> {
  try {
    await answer(flow, account, true, (target) => location.replace(target))
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    if (!handleFailure(flow, account, error)) flow.present(showConsent(flow, account))
  }
}

/** Whether the app expects another account than this one, so that the service would issue no tokens. */
const isAnother = ({ request: { hint } }: SignInFlow, { userId }: Account): boolean =>
  hint !== undefined && hint.userId !== userId

/** Shows that the app expects another account. Returning sends the app an error, never tokens. */
function showAnotherExpected(flow: SignInFlow, account: Account): View {
  const { clientName, hint } = flow.request
  const { alert, decide, changeAccount } = makeActions(flow, account)
  const whom = hint?.email
    ? ['the account ', make('bdi', { class: 'name' }, hint.email)]
    : ['another account']
  return {
    title: 'Another account is expected',
    content: [
      make('p', { class: 'lead' }, appName(clientName), ' asks for ', ...whom, ', and for no other.'),
      make('p', {}, 'You have signed in as ', make('bdi', { class: 'name' }, account.email), '.'),
      alert.element,
      make(
        'div',
        { class: 'decision stacked' },
        makeButton('primary', 'Use another account', changeAccount),
        makeButton('secondary', 'Return to the app', decide(true)),
      ),
    ],
  }
}

/** Creates what the user can do here, and the area that shows a failure. */
function makeActions(flow: SignInFlow, account: Account) {
  const alert = makeAlert()
  const guard = makeGuard(alert, (failure) => handleFailure(flow, account, failure))
  const act = (work: () => Promise<void>) => (event: Event) =>
    void guard(event.currentTarget as HTMLButtonElement, work)
  return {
    alert,
    decide: (approved: boolean) =>
      act(() => answer(flow, account, approved, (target) => location.assign(target))),
    changeAccount: act(async () => {
      await endSession(account)
      flow.update({ email: undefined, account: undefined, kept: undefined })
      flow.replace('password')
    }),
  }
}

/**
 * Sends the decision, remembers it, and leaves the page. A session that this device does not keep ends here
 * if it gave the app nothing.
 */
async function answer(
  flow: SignInFlow,
  account: Account,
  approved: boolean,
  leave: (target: string) => void,
): Promise<void> {
  const { request } = flow
  const target = await sendDecision(account, request.parameters, approved)
  const isGiven = approved && !isAnother(flow, account)
  if (isGiven && request.remembersConsent) allow(account.userId, request.clientId, request.scopes)
  if (!isGiven && !keeps(account)) await endSession(account)
  flow.update({ email: undefined, account: undefined, kept: undefined, finished: true })
  history.replaceState({ step: 'finished' }, '')
  flow.present(showLeaving(request.clientName, target))
  leave(target)
}

/**
 * Handles a failure of the decision. A kept session that the service refuses is forgotten, and the user is
 * asked for the password without an error. Returns false if the user can try the decision again.
 */
function handleFailure(flow: SignInFlow, account: Account, failure: ApiFailure): boolean {
  if (sessionEnded.includes(failure.code)) {
    const isKept = keeps(account)
    if (failure.signInTooOld && !isKept) void endSession(account)
    if (!failure.signInTooOld && isKept) forgetSession()
    flow.update({ email: account.email, account: undefined, kept: undefined })
    flow.replace('password', isKept && !failure.signInTooOld ? undefined : explain(failure))
  } else if (invalidRequest.includes(failure.code)) {
    flow.present(showRefused(failure))
  } else return false
  return true
}

const showAccount = ({ email }: Account, onChange: (event: Event) => void): HTMLElement =>
  make(
    'div',
    { class: 'account' },
    make('bdi', { class: 'account-email' }, email),
    makeButton('link', 'Not you?', onChange),
  )

/**
 * Ends the user's session, and forgets it if this device keeps it. Ignores a failure of the API, because the
 * session expires anyway.
 */
async function endSession(account: Account): Promise<void> {
  if (keeps(account)) forgetSession()
  try {
    await signOut(account)
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
  }
}
