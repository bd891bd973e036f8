import { ApiFailure } from '../api.ts'
import { readOnce } from '../authorization-request.ts'
import { forgetSession, onSessionChange, readSession } from '../device.ts'
import { appName, make, makeButton } from '../dom.ts'
import { makeForget } from '../forget.ts'
import { makeAlert, makeGuard } from '../form.ts'
import { present, presentWaiting } from '../present.ts'
import { type Account, checkSignOut, signOut, type SignOutRequest } from '../sign-in-api.ts'
import type { View } from '../step.ts'
import { clearState } from '../tab-state.ts'
import { invalidRequest, showUnchecked } from './ending.ts'

/** The parameters of a sign-out request that this page sends to the service (RP-Initiated Logout §2). */
const parameterNames = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state']

/**
 * Answers a sign-out request: asks, ends the session, and returns to the app, but only to an address that the
 * service has found registered. If nobody is signed in on this device, there is nothing to ask.
 */
export async function openSignOut(): Promise<void> {
  presentWaiting()
  try {
    const request = await readRequest()
    const show = () => {
      const account = readSession()
      if (account !== undefined) present(showQuestion(request, account))
      else leave(request)
    }
    onSessionChange(show)
    show()
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    present(showUnchecked(error, () => void openSignOut()))
  }
}

/** A sign-out request. A damaged one can be answered, too, but returns to nowhere. */
type CheckedRequest = SignOutRequest & { isDamaged: boolean }

const damaged: CheckedRequest = { clientName: undefined, target: undefined, isDamaged: true }

async function readRequest(): Promise<CheckedRequest> {
  const parameters = readOnce(location.search, parameterNames)
  if (parameters === undefined) return damaged
  try {
    return { ...(await checkSignOut(parameters)), isDamaged: false }
  } catch (error) {
    if (error instanceof ApiFailure && invalidRequest.includes(error.code)) return damaged
    throw error
  }
}

function showQuestion(request: CheckedRequest, account: Account): View {
  const alert = makeAlert()
  const guard = makeGuard(alert, () => false)
  const end = (event: Event) =>
    void guard(event.currentTarget as HTMLButtonElement, async () => {
      await signOut(account)
      forgetSession()
      clearState()
      leave(request)
    })
  return {
    title: 'Sign out?',
    content: [
      explainDamage(request),
      make(
        'p',
        { class: 'lead' },
        ...(request.clientName === undefined ? [] : [appName(request.clientName), ' asks you to sign out. ']),
        'You sign out of every app that you have entered with this sign-in.',
      ),
      make('div', { class: 'account' }, make('bdi', { class: 'account-email' }, account.email)),
      alert.element,
      make(
        'div',
        { class: 'decision' },
        makeButton('secondary', 'Stay signed in', () => present(showStaying)),
        makeButton('primary', 'Sign out', end),
      ),
      makeForget() ?? '',
    ],
  }
}

const explainDamage = ({ isDamaged }: CheckedRequest): HTMLElement | string =>
  isDamaged
    ? make('p', { class: 'notice' }, 'The app’s link is not valid, so this page does not return to the app.')
    : ''

const showStaying: View = {
  title: 'You are still signed in',
  content: [make('p', { class: 'lead' }, 'Go back to the app, or close this page.')],
}

/** Returns to the app, or says that nobody is signed in. */
function leave(request: CheckedRequest): void {
  present({
    title: 'You are signed out',
    content: [
      explainDamage(request),
      make('p', { class: 'lead' }, 'Nobody is signed in on this device.'),
      makeForget() ?? '',
    ],
  })
  if (request.target !== undefined) location.replace(request.target)
}
