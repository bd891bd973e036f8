import type { Locator, Page } from 'playwright-core'
import { mailedCode } from '../../support/outbox.ts'
import { authenticatorCode, type TestUser } from '../../support/sign-in.ts'

/** The functions below find elements of the authorization page by the texts that users see. */
export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { level: 1, name })
export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
export const emailField = (page: Page): Locator => page.getByLabel('Email address')
export const passwordField = (page: Page): Locator => page.getByLabel('Password', { exact: true })
export const codeField = (page: Page): Locator => page.getByLabel('6-digit code')

/** Fills in email and password on the authorization page, and submits them. */
export async function givePassword(
  page: Page,
  { email, password }: Pick<TestUser, 'email' | 'password'>,
): Promise<void> {
  await emailField(page).fill(email)
  await passwordField(page).fill(password)
  await button(page, 'Continue').click()
}

/** Fills in a second-factor code on the authorization page, and submits it. */
export async function giveCode(page: Page, code: string): Promise<void> {
  await codeField(page).fill(code)
  await button(page, 'Verify').click()
}

/** Chooses the authenticator app, and submits the code that it shows. */
export async function giveAuthenticatorCode(page: Page, { totpSecret }: TestUser): Promise<void> {
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  await giveCode(page, await authenticatorCode(totpSecret))
}

/**
 * Opens an authorization request and signs the user in, up to the consent step, and with `stay` so that the
 * device keeps the session. Uses the authenticator app, or a mailed code if the user has no app. Resolves
 * with the tokens of the sign-in.
 */
export async function signIn(
  page: Page,
  address: string,
  user: TestUser,
  { stay = false } = {},
): Promise<Session> {
  const answered = page.waitForResponse('**/user/login/2fa')
  await page.goto(address)
  if (stay) await page.getByLabel('Stay signed in on this device').check()
  await givePassword(page, user)
  if (user.totpSecret === '') {
    await heading(page, 'Check your mail').waitFor()
    await giveCode(page, await mailedCode(user.email))
  } else {
    await giveAuthenticatorCode(page, user)
  }
  await heading(page, 'Allow access?').waitFor()
  const { data } = (await (await answered).json()) as { data: Session }
  return data
}

/** The tokens of a sign-in. */
export interface Session {
  access_token: string
  device_token: string
}
