import { expect } from 'vitest'
import { bearer } from '../support/oauth-clients.ts'
import { postJson, stack } from '../support/oauth.ts'
import { it } from './support/browser-test.ts'
import { mailedCode } from '../support/outbox.ts'
import { anotherCode, authenticatorCode } from '../support/sign-in.ts'
import { expireTickets, newUser } from './support/users.ts'
import {
  button,
  codeField,
  emailField,
  giveAuthenticatorCode,
  giveCode,
  givePassword,
  heading,
  passwordField,
} from './support/page-steps.ts'

/** Number of wrong codes that use up a login ticket. */
const maxTries = 5
const anyOrigin = { 'access-control-allow-origin': '*' }

/** Answers that come from API Gateway itself, without a `code`, and the text that the page shows for each. */
const gatewayAnswers: [status: number, message: string, shown: string][] = [
  [429, 'Too Many Requests', 'The service is busy. Try again in a few seconds.'],
  [500, 'Internal Server Error', 'Something went wrong on our side.'],
  [503, 'Service Unavailable', 'The service is busy. Try again in a few seconds.'],
]

it('a wrong password gets an error message, and the right one is then accepted', async ({ openRequest }) => {
  const user = await newUser()
  const page = await openRequest()
  await givePassword(page, { ...user, password: 'wrong' })
  await page.getByRole('alert').getByText('The email address or the password is not right.').waitFor()
  expect(await page.evaluate('document.activeElement.name')).toBe('password')
  await givePassword(page, user)
  await heading(page, 'Check your mail').waitFor()
})

it('every empty or malformed sign-in field gets a message of its own', async ({ openRequest }) => {
  const page = await openRequest()
  await button(page, 'Continue').click()
  await page.getByText('Enter your email address.').waitFor()
  await page.getByText('Enter your password.').waitFor()
  expect(await page.evaluate('document.activeElement.name')).toBe('email')
  const description = await emailField(page).getAttribute('aria-describedby')
  expect(await page.locator(`#${description ?? ''}`).innerText()).toBe('Enter your email address.')
  await givePassword(page, { email: 'a@b', password: 'x' })
  await page.getByText(/^Enter a complete email address|is not right/).waitFor()
})

it('a wrong second-factor code is explained, and the right one is then accepted', async ({ openRequest }) => {
  const user = await newUser()
  const page = await openRequest()
  await givePassword(page, user)
  const code = await mailedCode(user.email)
  await giveCode(page, anotherCode(code))
  await page.getByText('That code is not right').waitFor()
  expect(await codeField(page).getAttribute('aria-invalid')).toBe('true')
  await giveCode(page, '12')
  await page.getByText('Enter the 6 digits of the code.').waitFor()
  await giveCode(page, code)
  await heading(page, 'Allow access?').waitFor()
})

it('an expired login ticket returns the user to the password step, where they can sign in again', async ({
  openRequest,
  app,
}) => {
  const user = await newUser({ authenticator: true })
  const page = await openRequest()
  await givePassword(page, user)
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  await expireTickets(user)
  await giveCode(page, await authenticatorCode(user.totpSecret))
  await heading(page, 'Sign in').waitFor()
  await page.getByText('That took too long').waitFor()
  expect(await emailField(page).inputValue()).toBe(user.email)
  await passwordField(page).fill(user.password)
  await button(page, 'Continue').click()
  await giveAuthenticatorCode(page, user)
  await button(page, 'Allow').click()
  expect(await app.exchange(await app.takeAnswer())).toMatchObject({ sub: String(user.userId) })
})

it('after too many wrong codes, the page says that the login ticket is used up', async ({ openRequest }) => {
  const user = await newUser()
  const page = await openRequest()
  await givePassword(page, user)
  const wrong = anotherCode(await mailedCode(user.email))
  for (let tried = 0; tried < maxTries; tried++) {
    const answered = page.waitForResponse('**/user/login/2fa')
    await giveCode(page, wrong)
    await answered
  }
  await giveCode(page, await mailedCode(user.email))
  await page.getByText('had too many tries').waitFor()
})

it('after too many failures from an IP address, the page says when to try again', async ({ openRequest }) => {
  const page = await openRequest()
  const email = `nobody-${crypto.randomUUID()}@example.com`
  for (let tried = 0; tried < 10; tried++) {
    const answered = page.waitForResponse('**/user/login-with-password')
    await givePassword(page, { email, password: `wrong ${tried}` })
    await answered
  }
  await givePassword(page, { email, password: 'wrong' })
  const limit = /^Too many sign-ins or wrong tries.+ try again (in about \d+ minutes|after) /
  await page.getByRole('alert').getByText(limit).waitFor()
})

it('a busy service, an unreachable service and an offline device each get a message of their own', async ({
  openRequest,
}) => {
  const user = await newUser()
  const page = await openRequest()
  const endpoint = `${stack.base_url}/user/login-with-password`
  await page.route(endpoint, (route) =>
    route.fulfill({
      status: 503,
      headers: { ...anyOrigin, 'access-control-expose-headers': 'retry-after', 'retry-after': '1' },
      json: { code: 50300, msg: 'temporarily unavailable, try again', data: null },
    }),
  )
  await givePassword(page, user)
  await page.getByText('The service is busy. Try again in a few seconds.').waitFor()
  await page.unroute(endpoint)
  await page.route(endpoint, (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }))
  await button(page, 'Continue').click()
  await page.getByText('The service cannot be reached right now.').waitFor()
  await page.unroute(endpoint)
  for (const [status, message, shown] of gatewayAnswers) {
    await page.route(endpoint, (route) => route.fulfill({ status, headers: anyOrigin, json: { message } }))
    await button(page, 'Continue').click()
    await page.getByText(shown).waitFor()
    await page.unroute(endpoint)
  }
  await page.context().setOffline(true)
  await button(page, 'Continue').click()
  await page.getByText('You are offline.').waitFor()
  await page.context().setOffline(false)
  await button(page, 'Continue').click()
  await heading(page, 'Check your mail').waitFor()
})

it('a user who consents after the session has ended gets the sign-in form again', async ({ signedIn }) => {
  const { page, user, session } = await signedIn()
  await postJson('/user/logout', { id: String(user.userId) }, bearer(session.access_token))
  await button(page, 'Allow').click()
  await page.getByText('Your sign-in has ended.').waitFor()
  expect(await emailField(page).inputValue()).toBe(user.email)
})

it.for([
  ['an unknown app', { client_id: 'nobody' }, 'is not registered'],
  ['an unregistered redirect URI', { redirect_uri: 'https://attacker.example/callback' }, 'not registered'],
  ['no scope that exists', { scope: 'everything' }, 'asks for nothing'],
  ['no code challenge', { code_challenge: '' }, 'missing or not valid'],
  ['a request object', { request: 'e30.e30.' }, 'missing or not valid'],
] as const)(
  'an authorization request with %s is refused without a redirect before a password is asked for',
  async ([, changes, reason], { open, app }) => {
    const page = await open()
    const forged = new URL(await app.authorizationUrl(changes))
    // Opens the page directly, as an attacker's link can. The authorization endpoint would not redirect these
    // invalid requests to the page.
    await page.goto(`${stack.page_url}/${forged.search}`)
    await heading(page, 'This request cannot be answered').waitFor()
    await page.getByText(reason).waitFor()
    expect(await passwordField(page).count()).toBe(0)
    expect(await page.locator('main').innerText()).not.toMatch(/nobody|attacker/)
    expect(page.url()).toContain(stack.page_url)
  },
)

it('a request that becomes invalid before consent gives an error and no redirect', async ({ signedIn }) => {
  const { page } = await signedIn()
  await page.route('**/oauth2/authorize/consent', (route) =>
    route.fulfill({
      status: 400,
      headers: anyOrigin,
      json: { code: 40002, msg: 'unknown client_id or redirect_uri', data: null },
    }),
  )
  await button(page, 'Allow').click()
  await heading(page, 'This request cannot be answered').waitFor()
  expect(page.url()).toContain(stack.page_url)
})

it('if the service cannot check the request, the page asks for no password and offers to try again', async ({
  open,
  app,
}) => {
  const page = await open()
  const endpoint = '**/oauth2/authorize/request?**'
  await page.route(endpoint, (route) => route.abort())
  await page.goto(await app.authorizationUrl())
  await heading(page, 'Not ready yet').waitFor()
  await page.getByText('The service cannot be reached right now.').waitFor()
  expect(await passwordField(page).count()).toBe(0)
  await page.unroute(endpoint)
  await button(page, 'Try again').click()
  await heading(page, 'Sign in').waitFor()
})

it.for([
  ['', 'Nothing to sign in to yet'],
  ['?client_id=demo-app', 'This link is incomplete'],
  ['?client_id=a&client_id=b&redirect_uri=http://127.0.0.1/callback', 'This link is incomplete'],
  ['?client_id=a&redirect_uri=nonsense', 'This link is incomplete'],
] as const)(
  'the authorization page with the query "%s" says why the user cannot sign in',
  async ([query, title], { open }) => {
    const page = await open()
    await page.goto(`${stack.page_url}/${query}`)
    await heading(page, title).waitFor()
  },
)
