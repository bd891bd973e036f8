import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { stack } from '../../support/oauth.ts'
import { authenticatorCode, type TestUser } from '../../support/sign-in.ts'
import { findViolations, scrollsSideways } from './accessibility.ts'
import { button, giveCode, givePassword, heading } from './page-steps.ts'

/** The pages of the sample app: heading and path. */
export const appPages = [
  ['Overview', '/'],
  ['Wallets', '/wallets'],
  ['Community', '/community'],
  ['Deposits', '/deposits'],
] as const

/** The looks in which each page is kept and checked. */
const looks = [
  { width: 1280, height: 900, colorScheme: 'light' },
  { width: 1280, height: 900, colorScheme: 'dark' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
] as const

/** Opens a path of the sample app, signs the user in at the service and consents, up to the app's page. */
export async function openApp(page: Page, user: TestUser, path = '/'): Promise<void> {
  await page.goto(stack.app_url + path)
  await signInFromApp(page, user)
}

/** Signs in with the app's button, as `openApp` does, with the authenticator's code of an instant. */
export async function signInFromApp(page: Page, user: TestUser, at = Date.now()): Promise<void> {
  await button(page, 'Sign in').click()
  await givePassword(page, user)
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  await giveCode(page, await authenticatorCode(user.totpSecret, at))
  await heading(page, 'Allow access?').waitFor()
  await button(page, 'Allow').click()
  await button(page, 'Sign out').waitFor()
}

/** Waits until the page has loaded its data. */
export async function awaitData(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.getByLabel('Loading').count(), { timeout: 20_000 }).toBe(0)
}

/** Keeps screenshots of the page in every look, and checks each for accessibility and sideways scrolling. */
export async function checkLooks(page: Page, name: string): Promise<void> {
  for (const { colorScheme, ...size } of looks) {
    // Without motion, no colour is on its way to another one while it is checked.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize(size)
    await awaitData(page)
    const look = `${name} ${size.width} ${colorScheme}`
    await page.screenshot({ path: `dist/screenshots/${look.replaceAll(' ', '-')}.png`, fullPage: true })
    expect(await findViolations(page), look).toEqual([])
    expect(await scrollsSideways(page), look).toBe(false)
  }
}

/** Reloads the page until it shows a text, because events take effect a little after they were put. */
export async function reloadUntil(page: Page, text: string): Promise<void> {
  const reload = async () => {
    await page.reload()
    await awaitData(page)
    return page.locator('main').innerText()
  }
  await expect.poll(reload, { timeout: 30_000 }).toContain(text)
}
