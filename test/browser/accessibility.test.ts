import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { findViolations, scrollsSideways } from './support/accessibility.ts'
import { stack } from '../support/oauth.ts'
import { it } from './support/browser-test.ts'
import { authenticatorCode } from '../support/sign-in.ts'
import { newUser } from './support/users.ts'
import { HttpsApp } from './support/https-app.ts'
import {
  button,
  codeField,
  giveAuthenticatorCode,
  giveCode,
  givePassword,
  heading,
  signIn,
} from './support/page-steps.ts'

/** Finds controls smaller than 24 by 24 pixels, the minimum of WCAG 2.2 (2.5.8). */
const smallTargets = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('button, input')].filter((element) => { const { width, height } = element.getBoundingClientRect(); return width < 24 || height < 24 }).map((element) => element.outerHTML)`,
  )

const views = [
  { name: 'a phone, dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true },
  // WCAG 1.4.10 requires this size: it is a window of 1280 by 1024 pixels at a zoom of 400 %.
  { name: 'a very narrow window, light', viewport: { width: 320, height: 256 }, colorScheme: 'light' },
  { name: 'a desktop, light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'a desktop, dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
] as const

/** Creates a check of what a page shows now. A screenshot is kept, for people to look at. */
const makeCheck = (page: Page, view: string) => async (step: string) => {
  const path = `dist/screenshots/page-${step}-${view}.png`.replaceAll(/[ ,]+/g, '-')
  await page.screenshot({ path, fullPage: true })
  expect(await findViolations(page), step).toEqual([])
  expect(await scrollsSideways(page), step).toBe(false)
  expect(await smallTargets(page), step).toEqual([])
}

it.for(views)(
  'every sign-in step passes the WCAG checks and does not scroll sideways on $name',
  async ({ name, viewport, ...options }, { open, app }) => {
    const user = await newUser({ authenticator: true })
    const page = await open({ ...options, viewport: { ...viewport }, reducedMotion: 'reduce' })
    const check = makeCheck(page, name)
    await page.goto(stack.page_url)
    await check('no request')
    await page.goto(`${stack.page_url}/?client_id=a&redirect_uri=https://a.example`)
    await heading(page, 'This request cannot be answered').waitFor()
    await check('refused')
    await page.route('**/oauth2/authorize/request?**', (route) => route.abort())
    await page.reload()
    await heading(page, 'Not ready yet').waitFor()
    await check('unchecked')
    await page.unrouteAll()
    const scope =
      'openid profile email account.read community.read community.write dashboard.read deposit.read'
    await page.goto(await app.authorizationUrl({ scope }))
    await heading(page, 'Sign in').waitFor()
    await check('password')
    await button(page, 'Continue').click()
    await check('empty fields')
    await givePassword(page, { ...user, password: 'wrong' })
    await page.getByRole('alert').getByText('is not right').waitFor()
    await check('wrong password')
    await givePassword(page, user)
    await heading(page, 'Confirm that it is you').waitFor()
    await check('method')
    await page.getByRole('button', { name: 'Authenticator app' }).click()
    await check('code')
    await giveCode(page, '1')
    await check('bad code')
    await giveCode(page, await authenticatorCode(user.totpSecret))
    await heading(page, 'Allow access?').waitFor()
    await check('consent')
    await button(page, 'Allow').click()
    await heading(page, 'The app').waitFor()
    await page.goBack()
    await heading(page, 'Already answered').waitFor()
    await check('finished')
  },
)

it.for(views)(
  'what a kept session shows, the sign-out and the refusal pass the WCAG checks on $name',
  async ({ name, viewport, ...options }, { open }) => {
    const [user, other] = [await newUser({ authenticator: true }), await newUser({ authenticator: true })]
    const page = await open({ ...options, viewport: { ...viewport }, reducedMotion: 'reduce' })
    const check = makeCheck(page, name)
    const app = await HttpsApp.start(page)
    const { device_token: hint } = await signIn(page, app.authorizationUrl(), user, { stay: true })
    await button(page, 'Allow').click()
    await app.takeAnswer()
    await page.goto(app.authorizationUrl({ prompt: 'select_account' }))
    await button(page, `Continue as ${user.email}`).waitFor()
    await check('continue')
    await page.goto(stack.page_url)
    await page.getByRole('link', { name: 'Sign out' }).waitFor()
    await check('signed in')
    await button(page, 'Forget what I have allowed on this device').click()
    await check('forgotten')
    await page.goto(app.authorizationUrl({ prompt: 'login', id_token_hint: hint }))
    await givePassword(page, other)
    await giveAuthenticatorCode(page, other)
    await heading(page, 'Another account is expected').waitFor()
    await check('another account')
    await page.goto(`${stack.page_url}/sign-out?id_token_hint=nonsense`)
    await heading(page, 'Sign out?').waitFor()
    await check('sign out')
    await button(page, 'Sign out').click()
    await heading(page, 'You are signed out').waitFor()
    await check('signed out')
    await page.goto(app.authorizationUrl({ redirect_uri: 'https://elsewhere.example/callback' }))
    await heading(page, 'This sign-in cannot begin').waitFor()
    await check('refusal')
  },
)

it('a user whose session is kept continues with the keyboard alone', async ({ open }) => {
  const user = await newUser({ authenticator: true })
  const page = await open()
  const [app, second] = [await HttpsApp.start(page), await HttpsApp.start(page)]
  await page.goto(app.authorizationUrl())
  await page.getByLabel('Email address').press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  expect(await page.getByLabel('Stay signed in on this device').isChecked()).toBe(true)
  await givePassword(page, user)
  await giveAuthenticatorCode(page, user)
  await button(page, 'Allow').click()
  await app.takeAnswer()
  await page.goto(second.authorizationUrl())
  const name = `Continue as ${user.email}`
  await button(page, name).waitFor()
  const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
  for (let steps = 0; (await focused()) !== name; steps++) {
    if (steps > 5) throw new Error('the keyboard does not reach the button')
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
  await second.exchange()
})

it('the authorization page follows the browser’s preferred colour scheme', async ({ open }) => {
  const lightness = async (colorScheme: 'light' | 'dark') => {
    const page = await open({ colorScheme })
    await page.goto(stack.page_url)
    const colour = await page.evaluate<string>(
      "getComputedStyle(document.querySelector('main')).backgroundColor",
    )
    return Math.min(...(colour.match(/\d+/g) ?? []).map(Number))
  }
  expect(await lightness('light')).toBeGreaterThan(200)
  expect(await lightness('dark')).toBeLessThan(60)
})

it('a user can sign in with the keyboard alone and always sees where the focus is', async ({ open, app }) => {
  const user = await newUser({ authenticator: true })
  const page = await open()
  const { keyboard } = page
  const focused = () =>
    page.evaluate<string>('document.activeElement.name || document.activeElement.textContent.trim()')
  const outlined = () =>
    page.evaluate<boolean>("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
  const tabTo = async (name: string) => {
    for (let steps = 0; !(await focused()).startsWith(name); steps++) {
      if (steps > 10) throw new Error(`the keyboard does not reach ${name}`)
      await keyboard.press('Tab')
      expect(await outlined()).toBe(true)
    }
  }
  await page.goto(await app.authorizationUrl())
  await heading(page, 'Sign in').waitFor()
  expect(await focused()).toBe('email')
  await keyboard.type(user.email)
  await keyboard.press('Tab')
  expect(await focused()).toBe('password')
  await keyboard.type(user.password)
  await keyboard.press('Enter')
  await heading(page, 'Confirm that it is you').waitFor()
  expect(await focused()).toBe('Confirm that it is you')
  await tabTo('Authenticator app')
  await keyboard.press('Enter')
  await codeField(page).waitFor()
  expect(await focused()).toBe('code')
  await keyboard.type(await authenticatorCode(user.totpSecret))
  await keyboard.press('Enter')
  await heading(page, 'Allow access?').waitFor()
  expect(await focused()).toBe('Allow access?')
  await tabTo('Deny')
  await tabTo('Allow')
  await keyboard.press('Space')
  expect(await app.exchange(await app.takeAnswer())).toMatchObject({ sub: String(user.userId) })
})

it('the sign-in fields have the attributes that password managers and one-time-code keyboards need', async ({
  openRequest,
}) => {
  const user = await newUser()
  const page = await openRequest()
  const attributes = (label: string) => {
    const field = page.getByLabel(label, { exact: true })
    return Promise.all(['type', 'autocomplete', 'inputmode'].map((name) => field.getAttribute(name)))
  }
  expect(await attributes('Email address')).toEqual(['email', 'username', null])
  expect(await attributes('Password')).toEqual(['password', 'current-password', null])
  await button(page, 'Show password').click()
  expect(await attributes('Password')).toEqual(['text', 'current-password', null])
  await givePassword(page, user)
  expect(await attributes('6-digit code')).toEqual(['text', 'one-time-code', 'numeric'])
})
