import { html } from 'lit-html'
import { demoPassword, type DemoUser } from '../../demo/demo-users.ts'
import { fillEvent } from './events.ts'
import { makeButton, type Panel } from './panel.ts'
import { signedInAccount, signIn } from './sign-in.ts'

/** The demo users, each with a button that signs them in, and the token of the signed-in user. */
export const users: Panel = {
  title: 'Demo users',
  path: () => 'users',
  draw: ({ users: list }: { users: DemoUser[] }) =>
    list.length === 0
      ? html`<p>The stack was started with --no-demo.</p>
          ${makeButton('Fill in the event that registers a user', () => fillEvent('user.registered'))}`
      : html`${showSession()}
          <p>All have the password <code>${demoPassword}</code></p>
          <ul>
            ${list.map(showUser)}
          </ul>`,
}

const showUser = (user: DemoUser) =>
  html`<li class="line">
    <span>${user.email}</span>
    <small>${user.totp_secret && `authenticator ${user.totp_secret}`}</small>
    ${makeButton('Sign in', () => signIn(user), `Sign in as ${user.email}`)}
  </li>`

/** Shows this tab's sign-in: the token, a button that copies it, and a link to the reference. */
function showSession() {
  const account = signedInAccount()
  if (account === undefined) return ''
  const { email, accessToken } = account
  const copy = () => navigator.clipboard.writeText(accessToken).then(() => 'The token is on the clipboard.')
  return html`<p><strong>Signed in as ${email}</strong> with the access_token</p>
    <p><code>${accessToken}</code></p>
    <p class="line">${makeButton('Copy the token', copy)} <a href="docs/">Try the API as ${email}</a></p>`
}
