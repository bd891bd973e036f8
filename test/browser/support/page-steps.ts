import type { Locator, Page } from 'playwright-core'
import { authenticatorCode, mailedCode, type User } from './new-user.ts'

/** Elements of the authorization page, by the text that users see. */
export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { level: 1, name })
export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
export const emailField = (page: Page): Locator => page.getByLabel('Email address')
export const passwordField = (page: Page): Locator => page.getByLabel('Password', { exact: true })
export const codeField = (page: Page): Locator => page.getByLabel('6-digit code')

/** Submits email and password. */
export async function givePassword(
  page: Page,
  { email, password }: Pick<User, 'email' | 'password'>,
): Promise<void> {
  await emailField(page).fill(email)
  await passwordField(page).fill(password)
  await button(page, 'Continue').click()
}

/** Submits a code. */
export async function giveCode(page: Page, code: string): Promise<void> {
  await codeField(page).fill(code)
  await button(page, 'Verify').click()
}

/** Goes from the authorization request to the consent, with the authenticator if the user has one. */
export async function signIn(page: Page, address: string, user: User): Promise<void> {
  await page.goto(address)
  await givePassword(page, user)
  if (user.totpSecret === undefined) {
    await heading(page, 'Check your mail').waitFor()
    await giveCode(page, await mailedCode(user))
  } else {
    await page.getByRole('button', { name: 'Authenticator app' }).click()
    await giveCode(page, await authenticatorCode(user))
  }
  await heading(page, 'Allow access?').waitFor()
}

/** A wrong code. */
export const otherThan = (code: string): string => (code === '000000' ? '000001' : '000000')
