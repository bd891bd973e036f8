import { foreignName, make } from '../dom.ts'
import type { Journey, View } from '../step.ts'

/** Shown while the browser goes to the app, and after it where the app is not a page. */
export const showLeaving = (clientId: string, target: string): View => ({
  title: 'You are done here',
  content: [
    make('p', { class: 'lead' }, 'Returning to ', foreignName(clientId), ' …'),
    make(
      'p',
      {},
      'Nothing happens? ',
      make('a', { href: target, rel: 'noreferrer' }, 'Continue to the app'),
      '.',
    ),
  ],
})

/** Shown to one who comes back to a request that has been answered. */
export const showFinished = (journey: Journey): View => ({
  title: 'Already answered',
  content: [
    make(
      'p',
      { class: 'lead' },
      'You have answered this request of ',
      foreignName(journey.request.clientId),
      '.',
    ),
    make('p', {}, 'To sign in once more, go back to the app and start there.'),
    make(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick() {
          journey.remember({ finished: undefined })
          journey.replace('password')
        },
      },
      'Answer it again',
    ),
  ],
})

/** Shown when the service does not take the app's request: nothing is sent back, for the address may not be the app's. */
export const showRefused = (clientId: string, reason: string): View => ({
  title: 'This request cannot be answered',
  content: [
    make(
      'p',
      { class: 'lead' },
      'The request of ',
      foreignName(clientId),
      ' was refused, and nothing was shared.',
    ),
    make('p', {}, reason),
    make(
      'p',
      {},
      'Go back to the app and start again. If this happens again, tell the people who make the app.',
    ),
  ],
})

/** Shown when the address holds no request that could be answered. */
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
  ],
})
