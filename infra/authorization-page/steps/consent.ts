import type { Scope } from '../../../shared/tokens/scopes.ts'
import { ApiFailure } from '../api.ts'
import { appName, icon, make, makeButton, showDestination } from '../dom.ts'
import { makeAlert, makeGuard } from '../form.ts'
import { explain } from '../messages.ts'
import { type Account, sendDecision, signOut } from '../sign-in-api.ts'
import type { SignInFlow, View } from '../step.ts'
import { invalidRequest, showLeaving, showRefused } from './ending.ts'

/** Failure codes of the API for a session that is no longer valid. */
const sessionEnded = [40100, 40300]

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

/** Shows the step that asks the user to allow or deny the app's request. */
export function showConsent(flow: SignInFlow, account: Account): View {
  const { request } = flow
  const alert = makeAlert()
  const guard = makeGuard(alert, (failure) => {
    if (sessionEnded.includes(failure.code)) {
      if (failure.signInTooOld) void endSession(account)
      flow.update({ account: undefined })
      flow.replace('password', explain(failure))
    } else if (invalidRequest.includes(failure.code)) {
      flow.present(showRefused(failure))
    } else return false
    return true
  })
  const decide = (approved: boolean) => (event: Event) =>
    void guard(event.currentTarget as HTMLButtonElement, async () => {
      const target = await sendDecision(account, request.parameters, approved)
      if (!approved) await endSession(account)
      flow.update({ email: undefined, account: undefined, finished: true })
      history.replaceState({ step: 'finished' }, '')
      flow.present(showLeaving(request.clientName, target))
      location.assign(target)
    })
  const changeAccount = (event: Event) =>
    void guard(event.currentTarget as HTMLButtonElement, async () => {
      await endSession(account)
      flow.update({ email: undefined, account: undefined })
      flow.replace('password')
    })
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
      make(
        'div',
        { class: 'decision' },
        makeButton('secondary', 'Deny', decide(false)),
        makeButton('primary', 'Allow', decide(true)),
      ),
      showDestination(request.destination),
    ],
  }
}

const showAccount = ({ email }: Account, onChange: (event: Event) => void): HTMLElement =>
  make(
    'div',
    { class: 'account' },
    make('bdi', { class: 'account-email' }, email),
    makeButton('link', 'Not you?', onChange),
  )

/** Ends the user's session. Ignores a failure of the API, because the session expires anyway. */
async function endSession(account: Account): Promise<void> {
  try {
    await signOut(account)
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
  }
}
