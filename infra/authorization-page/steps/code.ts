import { make, makeButton } from '../dom.ts'
import { forgetSession, keepSession, readSession, staysSignedIn } from '../device.ts'
import { makeField, makeForm } from '../form.ts'
import { explain } from '../messages.ts'
import { readCode } from '../read-code.ts'
import { type Account, type Method, sendSecondFactor, type Ticket } from '../sign-in-api.ts'
import type { SignInFlow, View } from '../step.ts'
import { usableMethods } from './password.ts'

/** Shows the step that asks for the second-factor code. */
export function showCode(flow: SignInFlow, email: string, ticket: Ticket, method: Method): View {
  const byMail = method === 'EMAIL'
  const code = makeField({
    name: 'code',
    label: '6-digit code',
    attributes: {
      class: 'code',
      type: 'text',
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      autocapitalize: 'none',
      spellcheck: 'false',
      required: true,
      'aria-describedby': 'code-source',
    },
    check: (value) => (/^\d{6}$/.test(readCode(value)) ? undefined : 'Enter the 6 digits of the code.'),
  })
  const form = makeForm({
    fields: [code],
    submitLabel: 'Verify',
    async work() {
      const account = await sendSecondFactor(email, ticket, method, readCode(code.input.value))
      const kept = keepIfChosen(account) || undefined
      flow.update({ account, kept, ticket: undefined, method: undefined })
      flow.replace('consent')
    },
    onFailure(failure) {
      if (failure.code === 40103) code.showError(explain(failure))
      if (failure.code === 40102) {
        flow.update({ ticket: undefined, method: undefined })
        flow.replace('password', explain(failure))
      }
      return [40102, 40103].includes(failure.code)
    },
  })
  const source = byMail
    ? [
        'A code is on its way to ',
        make('bdi', { class: 'name' }, ticket.maskedEmail),
        '. It works for ten minutes.',
      ]
    : ['Open your authenticator app and enter the code that it shows for this account.']
  return {
    title: byMail ? 'Check your mail' : 'Enter your code',
    content: [
      make('p', { class: 'lead', id: 'code-source' }, ...source),
      form,
      make('div', { class: 'links' }, ...otherWays(flow, ticket, byMail)),
    ],
    focus: code.input,
  }
}

/** Keeps the session on this device if the user has chosen so. Otherwise forgets an older one of the user. */
function keepIfChosen(account: Account): boolean {
  if (staysSignedIn()) keepSession(account)
  else if (readSession()?.userId === account.userId) forgetSession()
  return staysSignedIn()
}

function otherWays(flow: SignInFlow, ticket: Ticket, byMail: boolean): HTMLElement[] {
  return [
    ...(usableMethods(ticket.methods).length > 1
      ? [makeButton('link', 'Use another method', () => flow.go('method'))]
      : []),
    makeButton('link', byMail ? 'No mail? Start over' : 'Start over', () => flow.go('password')),
  ]
}
