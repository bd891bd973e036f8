import { foreignName, icon, make } from '../dom.ts'
import { makeField, makeForm } from '../form.ts'
import { checkPassword, type Method } from '../sign-in-api.ts'
import type { Journey, View } from '../step.ts'

/** Methods that the service takes as a second factor; a passkey may be enrolled, but is not one of them. */
export const usableMethods = (methods: Method[]): Method[] => methods.filter((method) => method !== 'PASSKEY')

/** Asks for email and password. */
export function showPassword(journey: Journey, notice: string | undefined): View {
  const { request, state } = journey
  const email = makeField({
    name: 'email',
    label: 'Email address',
    attributes: {
      type: 'email',
      autocomplete: 'username',
      autocapitalize: 'none',
      spellcheck: 'false',
      required: true,
      value: state.email ?? request.loginHint,
      'aria-describedby': notice === undefined ? undefined : 'notice',
    },
    check: (value) => (/^\s*\S+@\S+\s*$/.test(value) ? undefined : 'Enter your email address.'),
  })
  const password = makeField({
    name: 'password',
    label: 'Password',
    attributes: {
      type: 'password',
      autocomplete: 'current-password',
      required: true,
      'aria-describedby': notice === undefined ? undefined : 'notice',
    },
    check: (value) => (value === '' ? 'Enter your password.' : undefined),
    addition: make(
      'button',
      {
        type: 'button',
        class: 'reveal',
        'aria-label': 'Show password',
        'aria-pressed': 'false',
        onclick: reveal,
      },
      icon('eye'),
    ),
  })
  function reveal(event: Event): void {
    const show = password.input.type === 'password'
    password.input.type = show ? 'text' : 'password'
    ;(event.currentTarget as HTMLElement).setAttribute('aria-pressed', String(show))
  }
  const form = makeForm({
    fields: [email, password],
    submitLabel: 'Continue',
    async work() {
      const address = email.input.value.trim()
      const ticket = await checkPassword(address, password.input.value)
      const [method, ...others] = usableMethods(ticket.methods)
      journey.remember({ email: address, ticket, method, account: undefined, finished: undefined })
      journey.go(method !== undefined && others.length === 0 ? 'code' : 'method')
    },
    onFailure(failure) {
      if (failure.code === 40001 && failure.fields.includes('email')) {
        email.complain('Enter a complete email address, such as name@example.com.')
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
      make('p', { class: 'lead' }, 'to continue to ', foreignName(request.clientId)),
      ...(notice === undefined
        ? []
        : [make('p', { id: 'notice', class: 'notice' }, icon('info'), make('span', {}, notice))]),
      form,
    ],
    focus: email.input.value === '' ? email.input : password.input,
  }
}
