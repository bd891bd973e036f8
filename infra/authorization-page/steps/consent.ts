import { ApiFailure } from '../api.ts'
import { foreignName, icon, make } from '../dom.ts'
import { makeAlert, makeGuard } from '../form.ts'
import { explain } from '../messages.ts'
import { describeScope } from '../scope-words.ts'
import { type Account, sendDecision, signOut } from '../sign-in-api.ts'
import type { Journey, View } from '../step.ts'
import { showLeaving, showRefused } from './ending.ts'

/** Codes that mean that the sign-in itself no longer holds. */
const sessionOver = [40100, 40300]
/** Codes that mean that the app's own request is at fault, which the user cannot mend. */
const requestAtFault = [40001, 40002, 40005]

/** Asks whether the app may have what it asks for. */
export function showConsent(journey: Journey, account: Account): View {
  const { request } = journey
  const alert = makeAlert()
  const guard = makeGuard(alert, (failure) => {
    if (sessionOver.includes(failure.code)) {
      journey.remember({ account: undefined })
      journey.replace('password', explain(failure))
    } else if (requestAtFault.includes(failure.code)) {
      journey.present(showRefused(request.clientId, explain(failure)))
    } else return false
    return true
  })
  const decide = (approved: boolean) => (event: Event) =>
    void guard(event.currentTarget as HTMLButtonElement, async () => {
      const target = await sendDecision(account, request.parameters, approved)
      if (!approved) await endSession(account)
      journey.remember({ email: undefined, account: undefined, finished: true })
      history.replaceState({ step: 'finished' }, '')
      journey.present(showLeaving(request.clientId, target))
      location.assign(target)
    })
  const changeAccount = (event: Event) =>
    void guard(event.currentTarget as HTMLButtonElement, async () => {
      await endSession(account)
      journey.remember({ email: undefined, account: undefined })
      journey.replace('password')
    })
  const items = request.scopes.map((scope) =>
    make('li', {}, icon('tick'), make('span', {}, describeScope(scope))),
  )
  return {
    title: 'Allow access?',
    content: [
      make('p', { class: 'lead' }, foreignName(request.clientId), ' asks to use your account.'),
      make(
        'div',
        { class: 'account' },
        make('span', { class: 'avatar', 'aria-hidden': 'true' }, account.email.charAt(0).toUpperCase()),
        make('bdi', { class: 'account-email' }, account.email),
        make('button', { type: 'button', class: 'link', onclick: changeAccount }, 'Not you?'),
      ),
      make('h2', {}, 'It will be able to'),
      make('ul', { class: 'scopes' }, ...items),
      make('p', { class: 'fine' }, 'It cannot move money, and it never sees your password.'),
      alert.element,
      make(
        'div',
        { class: 'decision' },
        make('button', { type: 'button', class: 'secondary', onclick: decide(false) }, 'Deny'),
        make('button', { type: 'button', class: 'primary', onclick: decide(true) }, 'Allow'),
      ),
      make(
        'p',
        { class: 'fine destination' },
        'You then return to ',
        make('bdi', {}, request.destination),
        '.',
      ),
    ],
  }
}

/** Ends a session that nobody will use. It is forgotten here and ends by itself in any case, so a failure holds nobody up. */
async function endSession(account: Account): Promise<void> {
  try {
    await signOut(account)
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
  }
}
