import type { ApiFailure } from '../api.ts'
import { readSession } from '../device.ts'
import { appName, make, makeButton } from '../dom.ts'
import { makeForget } from '../forget.ts'
import { explain } from '../messages.ts'
import type { SignInFlow, View } from '../step.ts'

/** The view that is shown while the browser opens the app; it stays on screen if the app is a native one. */
export const showLeaving = (clientName: string, target: string): View => ({
  title: 'You are done here',
  content: [
    make('p', { class: 'lead' }, 'Returning to ', appName(clientName), ' …'),
    make(
      'p',
      {},
      'Nothing happens? ',
      make('a', { href: target, rel: 'noreferrer' }, 'Continue to the app'),
      '.',
    ),
  ],
})

/** The view for a user who returns to an authorization request that they have already answered. */
export const showFinished = (flow: SignInFlow): View => ({
  title: 'Already answered',
  content: [
    make('p', { class: 'lead' }, 'You have answered this request of ', appName(flow.request.clientName), '.'),
    make('p', {}, 'To sign in once more, go back to the app and start there.'),
    makeButton('link', 'Answer it again', () => {
      flow.update({ finished: undefined })
      flow.replace('consent')
    }),
  ],
})

/** Codes with which the API refuses an invalid request of the app. The user cannot correct such a request. */
export const invalidRequest = [40001, 40002, 40005]

/**
 * The view for an invalid request of an app. Sends nothing to the redirect URI, which may be an attacker's.
 * Does not show the app's name, which may be wrong.
 */
export const showRefused = (failure: ApiFailure): View => ({
  title: 'This request cannot be answered',
  content: [
    make('p', { class: 'lead' }, 'The request of the app was refused, and nothing was shared.'),
    make('p', {}, failure.code === 40001 ? 'Something in it is missing or not valid.' : explain(failure)),
    make(
      'p',
      {},
      'Go back to the app and start again. If this happens again, tell the people who make the app.',
    ),
  ],
})

/** The view that is shown while the service cannot check the authorization request. */
export const showUnchecked = (failure: ApiFailure, retry: () => void): View => ({
  title: 'Not ready yet',
  content: [make('p', { class: 'lead' }, explain(failure)), makeButton('primary', 'Try again', retry)],
})

/** The view for a page URL without a complete authorization request. */
export const showNoRequest = (damaged: boolean): View => ({
  title: damaged ? 'This link is incomplete' : 'Nothing to sign in to yet',
  content: [
    make(
      'p',
      { class: 'lead' },
      damaged
        ? 'The app that sent you here left something out, so there is nowhere to return to.'
        : 'This page opens by itself when an app asks you to sign in.',
    ),
    make('p', {}, 'Go to the app that you want to use, and sign in from there.'),
    ...showSignedIn(),
    makeForget() ?? '',
  ],
})

function showSignedIn(): HTMLElement[] {
  const session = readSession()
  if (session === undefined) return []
  const signOut = make('a', { href: 'sign-out' }, 'Sign out')
  return [make('p', {}, 'Signed in on this device: ', make('bdi', {}, session.email), '. ', signOut)]
}
