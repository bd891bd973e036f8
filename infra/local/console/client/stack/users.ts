import { make } from '../../../../authorization-page/dom.ts'
import { makePanel, makeTable } from '../view.ts'
import { showChanges } from './read-local.ts'

/** The answer of `/_local/users`. */
export interface Users {
  users: { email: string; password: string; totp_secret?: string }[]
}

/** Who can sign in, and with what. */
export function makeUsers(): { element: HTMLElement; show: (users: Users) => void } {
  const panel = makePanel('users', 'Demo users')
  const code = (text: string) => make('code', {}, text)
  const show = showChanges(({ users }: Users) => {
    panel.body.replaceChildren(
      makeTable(
        'Demo users',
        [
          { head: 'Email', cell: ({ email }) => code(email) },
          { head: 'Password', cell: ({ password }) => code(password) },
          {
            head: 'Authenticator secret',
            cell: ({ totp_secret: secret }) => (secret ? code(secret) : 'by mail'),
          },
        ],
        users,
        'Started with --no-demo: there are none.',
      ),
    )
  })
  return { element: panel.element, show }
}
