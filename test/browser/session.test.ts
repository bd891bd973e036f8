import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { bearer } from '../support/oauth-clients.ts'
import { getUserinfo, postJson, stack } from '../support/oauth.ts'
import { mailedCode } from '../support/outbox.ts'
import type { TestUser } from '../support/sign-in.ts'
import { it } from './support/browser-test.ts'
import { HttpsApp } from './support/https-app.ts'
import {
  button,
  emailField,
  giveAuthenticatorCode,
  giveCode,
  givePassword,
  heading,
  passwordField,
  type Session,
  signIn,
} from './support/page-steps.ts'
import { ageSignIns, newUser } from './support/users.ts'

const stayBox = (page: Page) => page.getByLabel('Stay signed in on this device')
const continueAs = (page: Page, { email }: Pick<TestUser, 'email'>) => button(page, `Continue as ${email}`)
const subjectOf = ({ id_token }: { id_token: string }) => Number(decodeJwt(id_token).sub)
const isAlive = async ({ access_token }: Pick<Session, 'access_token'>): Promise<boolean> =>
  (await getUserinfo(access_token)).status === 200

/** Signs a new user in for an app, who stays signed in on this device and allows the app. */
async function staySignedIn(page: Page, app: HttpsApp): Promise<{ user: TestUser; session: Session }> {
  const user = await newUser({ authenticator: true })
  const session = await signIn(page, app.authorizationUrl(), user, { stay: true })
  await button(page, 'Allow').click()
  expect(subjectOf(await app.exchange())).toBe(user.userId)
  return { user, session }
}

it('one sign-in serves all apps: the second needs one click, the third none', async ({ open }) => {
  const page = await open()
  const [first, second] = [await HttpsApp.start(page), await HttpsApp.start(page)]
  const { user } = await staySignedIn(page, first)

  await page.goto(second.authorizationUrl({ scope: 'openid email' }))
  await continueAs(page, user).waitFor()
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
    'know that it is you, by your member number',
    'see your email address',
  ])
  await continueAs(page, user).click()
  expect(subjectOf(await second.exchange())).toBe(user.userId)

  await page.goto(second.authorizationUrl({ prompt: 'none', scope: 'openid' }))
  expect(subjectOf(await second.exchange()), 'by prompt=none').toBe(user.userId)
  await page.goto(first.authorizationUrl())
  expect(subjectOf(await first.exchange()), 'without any prompt').toBe(user.userId)
})

it('without “Stay signed in”, which is off at first, the session ends with the request', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const user = await newUser({ authenticator: true })
  await page.goto(app.authorizationUrl())
  expect(await stayBox(page).isChecked()).toBe(false)
  await signIn(page, app.authorizationUrl(), user)
  await button(page, 'Allow').click()
  await app.exchange()
  await page.goto(app.authorizationUrl())
  await passwordField(page).waitFor()
  expect(await app.askSilently()).toBe('login_required')
})

it('the last choice of “Stay signed in” is remembered', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const user = await newUser({ authenticator: true })
  await page.goto(app.authorizationUrl())
  await stayBox(page).check()
  await givePassword(page, user)
  await heading(page, 'Confirm that it is you').waitFor()
  await page.goto(app.authorizationUrl({ prompt: 'login' }))
  expect(await stayBox(page).isChecked()).toBe(true)
})

it('a user who signs in again and has allowed the app is not asked a second time', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const user = await newUser()
  await signIn(page, app.authorizationUrl(), user)
  await button(page, 'Allow').click()
  await app.exchange()
  await page.goto(app.authorizationUrl())
  await givePassword(page, user)
  await giveCode(page, await mailedCode(user.email, 2))
  expect(subjectOf(await app.exchange())).toBe(user.userId)
})

it('an app that asks for more than was allowed is asked for again', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const { user } = await staySignedIn(page, app)
  expect(await app.askSilently({ scope: 'openid email account.read' })).toBe('consent_required')
  await page.goto(app.authorizationUrl({ scope: 'openid email account.read' }))
  await continueAs(page, user).click()
  await app.exchange()
  expect(await app.askSilently({ scope: 'openid account.read' })).toBe('code')
})

it('a user who forgets what was allowed on this device is asked again', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  await staySignedIn(page, app)
  await page.goto(stack.page_url)
  await button(page, 'Forget what I have allowed on this device').click()
  await page.getByText('Forgotten: every app asks again.').waitFor()
  expect(await app.askSilently()).toBe('consent_required')
})

it('an app on a loopback address is always asked for (RFC 8252 §8.6)', async ({ open, app: loopback }) => {
  const page = await open()
  const { user } = await staySignedIn(page, await HttpsApp.start(page))
  for (let times = 0; times < 2; times += 1) {
    await page.goto(await loopback.authorizationUrl())
    await continueAs(page, user).click()
    await heading(page, 'The app').waitFor()
  }
})

it('an app on a loopback address gets interaction_required for prompt=none', async ({
  open,
  app: loopback,
}) => {
  const page = await open()
  await staySignedIn(page, await HttpsApp.start(page))
  await page.goto(await loopback.authorizationUrl({ prompt: 'none' }))
  await page.waitForURL(/error=interaction_required/)
})

it('prompt=none without a session is answered with login_required, state and issuer', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  await page.goto(app.authorizationUrl({ prompt: 'none', state: 'a&b' }))
  const answer = await app.takeAnswer()
  expect(Object.fromEntries(answer.searchParams)).toEqual({
    error: 'login_required',
    state: 'a&b',
    iss: stack.base_url,
  })
})

it('prompt=none with a session that is too old is answered with login_required', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const { user } = await staySignedIn(page, app)
  expect(await app.askSilently({ max_age: '1000' })).toBe('code')
  expect(await app.askSilently({ max_age: '0' })).toBe('login_required')
  // The page believes the instant that it has kept; the service does not.
  await ageSignIns(user.userId)
  expect(await app.askSilently({ max_age: '1000' })).toBe('login_required')
})

it('prompt=none with a hint of somebody else is answered with login_required', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  await staySignedIn(page, app)
  expect(await app.askSilently({ login_hint: 'somebody.else@example.com' })).toBe('login_required')
})

it('after the service has ended the session, the user is asked for the password without an error', async ({
  open,
}) => {
  const page = await open()
  const [app, other] = [await HttpsApp.start(page), await HttpsApp.start(page)]
  const { user, session } = await staySignedIn(page, app)
  await page.goto(other.authorizationUrl())
  await continueAs(page, user).waitFor()
  await postJson('/user/logout', { id: String(user.userId) }, bearer(session.access_token))
  await continueAs(page, user).click()
  await passwordField(page).waitFor()
  expect(await emailField(page).inputValue()).toBe(user.email)
  expect(await page.locator('.notice, .alert:not(:empty)').count()).toBe(0)
  expect(await app.askSilently()).toBe('login_required')
})

it('an app that needed no click gets the password form when the service has ended the session', async ({
  open,
}) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const { user, session } = await staySignedIn(page, app)
  await postJson('/user/logout', { id: String(user.userId) }, bearer(session.access_token))
  await page.goto(app.authorizationUrl())
  await passwordField(page).waitFor()
  expect(await page.locator('.notice, .alert:not(:empty)').count()).toBe(0)
})

it('a sign-out in one tab is seen in another, which asks for the password', async ({ open }) => {
  const page = await open()
  const [app, other] = [await HttpsApp.start(page), await HttpsApp.start(page)]
  const { user, session } = await staySignedIn(page, app)
  await page.goto(other.authorizationUrl())
  await continueAs(page, user).waitFor()
  const tab = await page.context().newPage()
  await tab.goto(`${stack.page_url}/sign-out`)
  await button(tab, 'Sign out').click()
  await heading(tab, 'You are signed out').waitFor()
  await passwordField(page).waitFor()
  expect(await isAlive(session)).toBe(false)
  expect(await app.askSilently()).toBe('login_required')
})

it('“Not you?” ends the kept session, and the next user is asked what the first has allowed', async ({
  open,
}) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const { user: first, session } = await staySignedIn(page, app)
  const second = await newUser({ authenticator: true })
  await page.goto(app.authorizationUrl({ prompt: 'select_account' }))
  await continueAs(page, first).waitFor()
  await button(page, 'Not you?').click()
  await passwordField(page).waitFor()
  expect(await isAlive(session)).toBe(false)
  await givePassword(page, second)
  await giveAuthenticatorCode(page, second)
  await heading(page, 'Allow access?').waitFor()
  await button(page, 'Allow').click()
  expect(subjectOf(await app.exchange())).toBe(second.userId)
  await page.goto(app.authorizationUrl())
  expect(subjectOf(await app.exchange()), 'the second user stays signed in').toBe(second.userId)
})

/** Signs two users in after one another on one device, each for an app that only this user allows. */
async function signTwoUsersIn(page: Page) {
  const [app, other] = [await HttpsApp.start(page), await HttpsApp.start(page)]
  const first = await newUser({ authenticator: true })
  const { access_token } = await signIn(page, app.authorizationUrl(), first)
  await button(page, 'Allow').click()
  const { id_token: hint } = await app.exchange()
  const { user: second } = await staySignedIn(page, other)
  return { app, other, first, second, hint, access_token }
}

it('a hint of a user who was signed in earlier on this device asks for that user', async ({ open }) => {
  const page = await open()
  const { app, other, first, hint, access_token } = await signTwoUsersIn(page)
  expect(await other.askSilently({ id_token_hint: hint })).toBe('login_required')
  await page.goto(app.authorizationUrl({ id_token_hint: hint }))
  await passwordField(page).waitFor()
  expect(await emailField(page).inputValue()).toBe(first.email)
  // For a hint without an address, the form must not offer that of the other user.
  const exchanged = await postJson('/oauth2/authorize', { access_token, scope: 'openid' })
  const { device_token: bare } = exchanged.body['data'] as Session
  await page.goto(app.authorizationUrl({ id_token_hint: bare }))
  await passwordField(page).waitFor()
  expect(await emailField(page).inputValue()).toBe('')
})

it('what one user of a device has allowed is asked of the next user', async ({ open }) => {
  const page = await open()
  const { app, second } = await signTwoUsersIn(page)
  expect(await app.askSilently()).toBe('consent_required')
  await page.goto(app.authorizationUrl())
  await continueAs(page, second).click()
  await app.exchange()
})

it('a user whom the hint does not mean gets no tokens for the app: another account is asked for', async ({
  open,
}) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const users = [1, 2, 3].map(() => newUser({ authenticator: true }))
  const [expected, second, third] = (await Promise.all(users)) as [TestUser, TestUser, TestUser]
  const { device_token: hint } = await signIn(page, app.authorizationUrl(), expected)
  const signInAs = async (other: TestUser) => {
    await givePassword(page, other)
    await giveAuthenticatorCode(page, other)
    await heading(page, 'Another account is expected').waitFor()
  }
  await page.goto(app.authorizationUrl({ id_token_hint: hint }))
  expect(await emailField(page).inputValue()).toBe(expected.email)
  await signInAs(second)
  await page.getByText(`asks for the account ${expected.email}`).waitFor()
  await button(page, 'Use another account').click()
  await signInAs(third)
  await button(page, 'Return to the app').click()
  expect((await app.takeAnswer()).searchParams.get('error')).toBe('login_required')
})

it('prompt=login asks for the password, prompt=consent and prompt=select_account for a click', async ({
  open,
}) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const { user } = await staySignedIn(page, app)
  for (const prompt of ['consent', 'select_account', 'consent select_account']) {
    await page.goto(app.authorizationUrl({ prompt }))
    await continueAs(page, user).click()
    expect(subjectOf(await app.exchange()), prompt).toBe(user.userId)
  }
  await page.goto(app.authorizationUrl({ prompt: 'login' }))
  await passwordField(page).waitFor()
  expect(await emailField(page).inputValue()).toBe(user.email)
})

it('a user who has just signed in for max_age=1 is not sent back, but an earlier session is', async ({
  open,
}) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const { user } = await staySignedIn(page, app)
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1100))')
  await page.goto(app.authorizationUrl({ max_age: '1', prompt: 'consent' }))
  await givePassword(page, user)
  await page.getByRole('button', { name: 'Code by mail' }).click()
  await giveCode(page, await mailedCode(user.email, 2))
  await heading(page, 'Allow access?').waitFor()
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1500))')
  await page.reload()
  await button(page, 'Allow').click()
  expect(subjectOf(await app.exchange())).toBe(user.userId)
})

it('where the browser denies storage, the sign-in works and nothing is kept', async ({ open }) => {
  const page = await open()
  const app = await HttpsApp.start(page)
  const user = await newUser({ authenticator: true })
  await page.context().addInitScript(() => {
    for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(globalThis, name, {
        get: () => {
          throw new DOMException('denied', 'SecurityError')
        },
      })
  })
  await page.goto(app.authorizationUrl())
  await passwordField(page).waitFor()
  expect(await stayBox(page).count()).toBe(0)
  await signIn(page, app.authorizationUrl(), user)
  await button(page, 'Allow').click()
  expect(subjectOf(await app.exchange())).toBe(user.userId)
  expect(await app.askSilently()).toBe('login_required')
})
