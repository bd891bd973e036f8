import { expect, onTestFinished } from 'vitest'
import { anyPorts, startCommand, throughNpm } from '../support/start-command.ts'
import { it } from './support/browser-test.ts'
import { ClientApp } from './support/client-app.ts'
import { launchBrowser } from './support/launch-browser.ts'
import { button, giveCode, givePassword, heading } from './support/page-steps.ts'

it('within two minutes of `npm start`, a newcomer gets a verified device_token using only what the console shows', async () => {
  const started = Date.now()
  const { ready, signal } = startCommand(['--ephemeral', ...anyPorts], {}, throughNpm)
  onTestFinished(async () => {
    await signal('SIGTERM')
  })
  const baseUrl = await ready
  const home = `${baseUrl}/_local/`
  const readyAfter = Date.now() - started

  await using browser = await launchBrowser()
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(home)
  const cells = page.locator('section#users tbody tr').first().locator('td')
  const [email, password] = [await cells.nth(0).innerText(), await cells.nth(1).innerText()]
  using app = await ClientApp.start(baseUrl)
  await page.goto(await app.authorizationUrl())
  await givePassword(page, { email, password })
  await page.getByRole('button', { name: 'Code by mail' }).click()
  await heading(page, 'Check your mail').waitFor()

  // Reads the mailed code from the outbox, which the console shows in another tab.
  const other = await context.newPage()
  await other.goto(home)
  const mail = await other.locator('section#outbox li', { hasText: email }).first().innerText()
  await giveCode(page, /\b\d{6}\b/.exec(mail)?.[0] ?? 'no code')
  await button(page, 'Allow').click()
  expect(await app.exchange(await app.takeAnswer())).toMatchObject({ aud: 'demo-app' })

  const milliseconds = Date.now() - started
  console.log(`ready after ${readyAfter} ms, a verified device_token after ${milliseconds} ms`)
  expect(milliseconds).toBeLessThan(120_000)
}, 150_000)
