import { icon, make, makeButton } from '../dom.ts'
import type { Method, Ticket } from '../sign-in-api.ts'
import type { SignInFlow, View } from '../step.ts'

const descriptions: Record<Method, { picture: string; name: string; describe: (ticket: Ticket) => string }> =
  {
    EMAIL: {
      picture: 'mail',
      name: 'Code by mail',
      describe: ({ maskedEmail }) => `On its way to ${maskedEmail}`,
    },
    AUTHENTICATOR: {
      picture: 'device',
      name: 'Authenticator app',
      describe: () => 'The code that your app shows now',
    },
    PASSKEY: { picture: 'key', name: 'Passkey', describe: () => 'Cannot be used on this page' },
  }

/** Shows the step in which the user chooses the method of the second factor. */
export function showMethod(flow: SignInFlow, ticket: Ticket): View {
  const choices = ticket.methods
    .filter((method) => method in descriptions)
    .map((method) => make('li', {}, makeChoice(flow, ticket, method)))
  return {
    title: 'Confirm that it is you',
    content: [
      make('p', { class: 'lead' }, 'Choose how you want to get your 6-digit code.'),
      make('ul', { class: 'choices' }, ...choices),
      makeButton('link', 'Use another account', () => flow.go('password')),
    ],
  }
}

function makeChoice(flow: SignInFlow, ticket: Ticket, method: Method): HTMLElement {
  const { picture, name, describe } = descriptions[method]
  const text = make(
    'span',
    { class: 'choice-text' },
    make('strong', {}, name),
    make('span', {}, describe(ticket)),
  )
  if (method === 'PASSKEY') return make('div', { class: 'choice unavailable' }, icon(picture), text)
  const choose = () => {
    flow.update({ method })
    flow.go('code')
  }
  return make(
    'button',
    { type: 'button', class: 'choice', onclick: choose },
    icon(picture),
    text,
    icon('next'),
  )
}
