import { expect } from 'vitest'
import { it } from './support/browser-test.ts'
import { mailedCode } from '../support/outbox.ts'
import { authenticatorCode } from '../support/sign-in.ts'
import { newUser } from './support/users.ts'
import { button, codeField, giveCode, givePassword, heading } from './support/page-steps.ts'

it('a reload keeps the current sign-in step, but not the password', async ({ openRequest, app }) => {
  const user = await newUser({ authenticator: true })
  const page = await openRequest()
  await givePassword(page, user)
  await heading(page, 'Confirm that it is you').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  await codeField(page).waitFor()
  await page.reload()
  expect(await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')).not.toContain(user.password)
  await giveCode(page, await authenticatorCode(user.totpSecret))
  await heading(page, 'Allow access?').waitFor()
  await page.reload()
  await button(page, 'Allow').click()
  expect(await app.exchange(await app.takeAnswer())).toMatchObject({ sub: String(user.userId) })
})

it('a new authorization request in the same tab discards the sign-in of the earlier request', async ({
  signedIn,
  app,
}) => {
  const { page } = await signedIn()
  await page.goto(await app.authorizationUrl({ state: 'another' }))
  await heading(page, 'Sign in').waitFor()
  expect(await page.getByLabel('Email address').inputValue()).toBe('')
})

it('the back and forward buttons move between the sign-in steps', async ({ openRequest }) => {
  const user = await newUser({ authenticator: true })
  const page = await openRequest()
  await givePassword(page, user)
  await page.getByRole('button', { name: 'Code by mail' }).click()
  await heading(page, 'Check your mail').waitFor()
  await page.goBack()
  await heading(page, 'Confirm that it is you').waitFor()
  await page.goBack()
  await heading(page, 'Sign in').waitFor()
  await page.goForward()
  await page.getByRole('button', { name: 'Code by mail' }).click()
  await giveCode(page, await mailedCode(user.email))
  await heading(page, 'Allow access?').waitFor()
})

it('the back button skips the code step once its code has been used', async ({ signedIn }) => {
  const { page } = await signedIn()
  await page.goBack()
  await heading(page, 'Sign in').waitFor()
  await page.goForward()
  await heading(page, 'Allow access?').waitFor()
})

it('after consent, going back shows “Already answered” and offers to answer again', async ({ signedIn }) => {
  const { page } = await signedIn()
  await button(page, 'Allow').click()
  await heading(page, 'The app').waitFor()
  await page.goBack()
  await heading(page, 'Already answered').waitFor()
  await page.reload()
  await button(page, 'Answer it again').click()
  await heading(page, 'Sign in').waitFor()
})

it('a triple click on a button sends one request', async ({ open, app }) => {
  const user = await newUser({ authenticator: true })
  const page = await open()
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
  const press = (name: string) =>
    page.evaluate(
      `(() => { const button = [...document.querySelectorAll('button')].find((b) => b.textContent === ${JSON.stringify(name)}); button.click(); button.click(); button.click() })()`,
    )
  await page.goto(await app.authorizationUrl())
  await page.getByLabel('Email address').fill(user.email)
  await page.getByLabel('Password', { exact: true }).fill(user.password)
  await press('Continue')
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  await codeField(page).fill(await authenticatorCode(user.totpSecret))
  await press('Verify')
  await heading(page, 'Allow access?').waitFor()
  await press('Allow')
  await app.takeAnswer()
  expect(sent).toEqual(['/user/login-with-password', '/user/login/2fa', '/oauth2/authorize/consent'])
})
