import { appName, icon, make, showDestination } from '../dom.ts'
import type { AuthorizationRequest } from '../authorization-request.ts'
import { canKeep, readSession, rememberStay, staysSignedIn } from '../device.ts'
import { type Field, makeField, makeForm } from '../form.ts'
import { checkPassword, type Method } from '../sign-in-api.ts'
import type { SignInFlow, View } from '../step.ts'

/** The second-factor methods that this page supports: all but passkeys. */
export const usableMethods = (methods: Method[]): Method[] => methods.filter((method) => method !== 'PASSKEY')

/** Shows the step that asks for email and password. `notice` says why the user is back at this step. */
export function showPassword(flow: SignInFlow, notice: string | undefined): View {
  const describedBy = notice === undefined ? undefined : 'notice'
  const email = makeEmailField(flow.state.email ?? expectedEmail(flow.request), describedBy)
  const password = makePasswordField(describedBy)
  const stay = makeStayChoice()
  const form = makeForm({
    fields: [email, password],
    below: stay?.element,
    submitLabel: 'Continue',
    async work() {
      stay?.remember()
      const address = email.input.value.trim()
      const ticket = await checkPassword(address, password.input.value)
      const [method, ...others] = usableMethods(ticket.methods)
      flow.update({
        email: address,
        ticket,
        method,
        account: undefined,
        kept: undefined,
        finished: undefined,
      })
      flow.go(method !== undefined && others.length === 0 ? 'code' : 'method')
    },
    onFailure(failure) {
      if (failure.code === 40001 && failure.fields.includes('email')) {
        email.showError('Enter a complete email address, such as name@example.com.')
        return true
      }
      if (failure.code === 40101) {
        password.input.focus()
        password.input.select()
      }
      return false
    },
  })
  return {
    title: 'Sign in',
    content: [
      make('p', { class: 'lead' }, 'to continue to ', appName(flow.request.clientName)),
      ...(notice === undefined
        ? []
        : [make('p', { id: 'notice', class: 'notice' }, icon('info'), make('span', {}, notice))]),
      form,
      showDestination(flow.request.destination),
    ],
    focus: email.input.value === '' ? email.input : password.input,
  }
}

/** The address that the form offers: what the app expects, or else that of the session that is kept. */
function expectedEmail({ loginHint, hint }: AuthorizationRequest): string {
  const session = readSession()
  const kept = hint === undefined || hint.userId === session?.userId ? session?.email : undefined
  return loginHint || hint?.email || kept || ''
}

/** Creates the choice whether this device keeps the session; undefined if it keeps nothing. */
function makeStayChoice() {
  if (!canKeep) return undefined
  const input = make('input', { type: 'checkbox', id: 'stay', name: 'stay', checked: staysSignedIn() })
  const label = make('label', { for: 'stay' }, 'Stay signed in on this device')
  const element = make('div', { class: 'check' }, input, label)
  return { element, remember: () => rememberStay(input.checked) }
}

const makeEmailField = (value: string, describedBy: string | undefined): Field =>
  makeField({
    name: 'email',
    label: 'Email address',
    attributes: {
      type: 'email',
      autocomplete: 'username',
      autocapitalize: 'none',
      spellcheck: 'false',
      required: true,
      value,
      'aria-describedby': describedBy,
    },
    check: (text) => (/^\s*\S+@\S+\s*$/.test(text) ? undefined : 'Enter your email address.'),
  })

function makePasswordField(describedBy: string | undefined): Field {
  const field = makeField({
    name: 'password',
    label: 'Password',
    attributes: {
      type: 'password',
      autocomplete: 'current-password',
      required: true,
      'aria-describedby': describedBy,
    },
    check: (text) => (text === '' ? 'Enter your password.' : undefined),
    addition: make(
      'button',
      {
        type: 'button',
        class: 'reveal',
        'aria-label': 'Show password',
        'aria-pressed': 'false',
        onclick: (event) => toggleVisibility(event.currentTarget as HTMLElement, field.input),
      },
      icon('eye'),
    ),
  })
  return field
}

function toggleVisibility(button: HTMLElement, input: HTMLInputElement): void {
  const show = input.type === 'password'
  input.type = show ? 'text' : 'password'
  button.setAttribute('aria-pressed', String(show))
}
