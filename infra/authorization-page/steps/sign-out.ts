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

/** A sign-out request. One with a problem can be answered, too, but returns to nowhere. */
type CheckedRequest = SignOutRequest & { problem: string | undefined }

const refused = (problem: string): CheckedRequest => ({ clientName: undefined, target: undefined, problem })

async function readRequest(): Promise<CheckedRequest> {
  const parameters = readOnce(location.search, parameterNames)
  if (parameters === undefined) return refused('names something twice')
  try {
    return { ...(await checkSignOut(parameters)), problem: undefined }
  } catch (error) {
    if (!(error instanceof ApiFailure) || !invalidRequest.includes(error.code)) throw error
    return refused(describeProblem(error))
  }
}

/** Completes the sentence "The app's link …". */
function describeProblem({ code, fields }: ApiFailure): string {
  if (code === 40002)
    return 'names an address to return to that is not registered for the app, or does not say which app it is'
  if (fields.includes('id_token_hint')) return 'has an id_token_hint that this service did not issue'
  return fields.includes('client_id') ? 'names another app than its id_token_hint' : 'is not valid'
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
      explainProblem(request),
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

const explainProblem = ({ problem }: CheckedRequest): HTMLElement | string =>
  problem === undefined
    ? ''
    : make('p', { class: 'notice' }, `The app’s link ${problem}, so this page does not return to the app.`)

const showStaying: View = {
  title: 'You are still signed in',
  content: [make('p', { class: 'lead' }, 'Go back to the app, or close this page.')],
}

/** Returns to the app, or says that nobody is signed in. */
function leave(request: CheckedRequest): void {
  present({
    title: 'You are signed out',
    content: [
      explainProblem(request),
      make('p', { class: 'lead' }, 'Nobody is signed in on this device.'),
      makeForget() ?? '',
    ],
  })
  if (request.target !== undefined) location.replace(request.target)
}
