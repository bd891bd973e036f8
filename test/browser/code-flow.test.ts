import * as oidc from 'openid-client'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { stack } from '../support/oauth.ts'
import { it } from './support/browser-test.ts'
import { mailedCode } from '../support/outbox.ts'
import { authenticatorCode } from '../support/sign-in.ts'
import { ageSignIns, newUser } from './support/users.ts'
import { button, giveCode, givePassword, heading, passwordField, signIn } from './support/page-steps.ts'

const storedByPage = async (page: Page) => {
  await page.goto(stack.page_url)
  return page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  )
}

/** Calls an endpoint that shows whether an access_token is still valid. */
const accountInfo = (accessToken: string): Promise<Response> =>
  fetch(`${stack.base_url}/account/info`, { headers: { authorization: `Bearer ${accessToken}` } })

it('after a user signs in with a mailed code and consents, the app gets a valid device_token', async ({
  openRequest,
  app,
}) => {
  const user = await newUser()
  const page = await openRequest()
  await page.getByText('to continue to Demo application').waitFor()
  await page.getByText(`You then return to an app on this device (${new URL(app.origin).host}).`).waitFor()
  await givePassword(page, user)
  await heading(page, 'Check your mail').waitFor()
  await giveCode(page, await mailedCode(user.email))

  await heading(page, 'Allow access?').waitFor()
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
    'know that it is you, by your member number',
    'see your nickname',
    'see your email address',
    'see your balances and transactions in both wallets',
  ])
  expect(await page.locator('main').innerText()).toContain(user.email)
  await button(page, 'Allow').click()

  const claims = await app.exchange(await app.takeAnswer())
  expect(claims).toMatchObject({ sub: String(user.userId), aud: 'demo-app', email: user.email })
})

it('if a user denies access, the app gets access_denied and the session ends', async ({ signedIn, app }) => {
  const { page, session } = await signedIn()
  await button(page, 'Deny').click()

  const refusal = await app.exchange(await app.takeAnswer()).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(oidc.AuthorizationResponseError)
  expect(refusal).toMatchObject({ error: 'access_denied' })
  expect((await accountInfo(session.access_token)).status).toBe(401)
})

it('a sign-in leaves no token or password in URLs, browser storage or cookies', async ({ open, app }) => {
  const user = await newUser({ authenticator: true })
  const page = await open()
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  const session = await signIn(page, await app.authorizationUrl(), user)
  await button(page, 'Allow').click()
  await heading(page, 'The app').waitFor()
  const stored = await storedByPage(page)
  for (const secret of [session.access_token, session.device_token, user.password]) {
    expect(addresses.filter((address) => address.includes(secret))).toEqual([])
    expect(stored).not.toContain(secret)
  }
  expect(stored).toMatch(/finished\\*":true/)
})

it('the consent step lists the access that the app would get, not all that it asks for', async ({
  signedIn,
}) => {
  const scope = 'openid offline_access everything email'
  const { page } = await signedIn({ scope })
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
    'know that it is you, by your member number',
    'see your email address',
  ])
})

it('if an app asks for a recent sign-in, the user must sign in again, and the older session ends', async ({
  signedIn,
  app,
}) => {
  const { page, user, session } = await signedIn({ max_age: '60' })
  await ageSignIns(user.userId)
  const signedOut = page.waitForResponse('**/user/logout')
  await button(page, 'Allow').click()
  await heading(page, 'Sign in').waitFor()
  await page.getByText('This app asks you to sign in again').waitFor()
  expect((await signedOut).status()).toBe(200)
  expect((await accountInfo(session.access_token)).status).toBe(401)
  await passwordField(page).fill(user.password)
  await button(page, 'Continue').click()
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  await button(page, 'Use another method').click()
  await page.getByRole('button', { name: 'Code by mail' }).click()
  await giveCode(page, await mailedCode(user.email, 2))
  await button(page, 'Allow').click()
  expect(await app.exchange(await app.takeAnswer())).toMatchObject({ sub: String(user.userId) })
})

it('the sign-in form takes the email address from login_hint', async ({ openRequest }) => {
  const page = await openRequest({ login_hint: 'somebody@example.com' })
  expect(await page.getByLabel('Email address').inputValue()).toBe('somebody@example.com')
})

it('at the consent step, the user can switch to another account', async ({ open, app }) => {
  const [first, second] = await Promise.all([
    newUser({ authenticator: true }),
    newUser({ authenticator: true }),
  ])
  const page = await open()
  await signIn(page, await app.authorizationUrl(), first)
  await button(page, 'Not you?').click()
  await givePassword(page, second)
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  const code = await authenticatorCode(second.totpSecret)
  // Users may paste a code with a space in the middle.
  await giveCode(page, `${code.slice(0, 3)} ${code.slice(3)}`)
  await button(page, 'Allow').click()
  const claims = await app.exchange(await app.takeAnswer())
  expect(claims).toMatchObject({ sub: String(second.userId), amr: ['pwd', 'otp'] })
})
