import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { bearer } from '../support/oauth-clients.ts'
import { postJson, stack } from '../support/oauth.ts'
import { findViolations, scrollsSideways } from './support/accessibility.ts'
import { it } from './support/browser-test.ts'
import { keepPicture } from './support/keep-picture.ts'
import { button } from './support/page-steps.ts'

const home = `${stack.base_url}/_local/`

const phone = { width: 390, height: 844 }
const views = [
  { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { viewport: phone, colorScheme: 'dark' },
] as const

it.for(views)(
  'a demo user signs in by one click and tries the API, all accessible: $viewport.width $colorScheme',
  async ({ viewport, colorScheme }, { open }) => {
    const page = await open({ viewport, colorScheme })
    const check = async (name: string) => {
      const path = `dist/screenshots/${name}-${viewport.width}-${colorScheme}.png`
      await page.screenshot({ path, fullPage: true })
      expect(await findViolations(page), name).toEqual([])
      expect(await scrollsSideways(page), name).toBe(false)
    }
    await page.goto(home)
    await button(page, 'Put the event').waitFor()
    await check('console')
    if (colorScheme === 'light') await keepPicture(page, 'console')
    await button(page, 'Sign in as erin@example.com').click()
    await page.getByText('Signed in as erin@example.com').waitFor()
    await check('console-signed-in')
    await page.getByRole('link', { name: 'Try the API as erin@example.com' }).click()
    await page.getByText('signed in as erin@example.com').waitFor()
    await check('reference')
    await page.locator('.opblock-summary', { hasText: '/account/info' }).getByRole('button').first().click()
    await button(page, 'Execute').click()
    const answer = page.locator('.live-responses-table')
    await answer.getByText('x-request-id').waitFor()
    await answer.getByText('"currency"').first().waitFor()
    await check('reference-answer')
  },
)

it('the limit of five mailed codes an hour does not stop a sixth sign-in by one click', async ({ open }) => {
  const page = await open()
  await page.goto(home)
  const result = page.locator('#users h2 + p')
  for (let signIns = 0; signIns < 6; signIns += 1) {
    await button(page, 'Sign in as heidi@example.com').click()
    await result.and(page.locator(':not([aria-busy])')).waitFor({ state: 'attached' })
    expect(await result.innerText()).toBe('')
  }
})

it('a person whose session has ended can sign in again in the reference', async ({ open }) => {
  const page = await open()
  await page.goto(home)
  await button(page, 'Sign in as heidi@example.com').click()
  await page.getByText('Signed in as heidi@example.com').waitFor()
  const token = await page.locator('#users code').first().innerText()
  await page.getByRole('link', { name: 'Try the API as heidi@example.com' }).click()
  await page.getByText('signed in as heidi@example.com').waitFor()
  expect((await postJson('/user/logout', { id: '1008' }, bearer(token))).status).toBe(200)
  await page.locator('.opblock-summary', { hasText: '/account/info' }).getByRole('button').first().click()
  await button(page, 'Execute').click()
  await page.getByText('The sign-in has ended.').waitFor()
  await page.reload()
  await page.getByText('The sign-in has ended.').waitFor()
  await button(page, 'Sign in as heidi@example.com').click()
  await page.getByText('signed in as heidi@example.com').waitFor()
})

const mail = { to: 'carol@example.com', subject: 'Your sign-in code', text: '', sent_at: 1 }

it('the console finds mails by part of an email address and shows their number', async ({ open }) => {
  const page = await open()
  const messages = Array.from({ length: 9 }, () => mail)
  await page.route('**/_local/outbox*', (route) => route.fulfill({ json: { messages } }))
  await page.goto(home)
  await page.getByLabel('Mail to').fill('carol')
  await page.getByText('The newest 8 of 9').waitFor()
  await page.getByLabel('Mail to').fill('dave')
  await page.getByText('No mail to such an address.').waitFor()
})

it('the panels of the console stay in place when mails arrive', async ({ open }) => {
  const page = await open()
  const messages: object[] = []
  await page.route('**/_local/outbox*', (route) => route.fulfill({ json: { messages } }))
  const columns = () => page.evaluate("[...document.querySelectorAll('article')].map((a) => a.offsetLeft)")
  await page.goto(home)
  await page.getByText('No mail yet.').waitFor()
  const before = await columns()
  messages.push(...Array.from({ length: 9 }, () => mail))
  await page.getByText('The newest 8 of 9').waitFor()
  expect(await columns()).toEqual(before)
})

it('a person who puts an event on a phone sees the result without scrolling', async ({ open }) => {
  const page = await open({ viewport: phone })
  await page.goto(home)
  await button(page, 'Put the event').waitFor()
  await page.evaluate("document.querySelector('#events button').scrollIntoView()")
  await button(page, 'Put the event').click()
  const result = page.getByText('The event has taken effect.')
  await result.waitFor()
  expect((await result.boundingBox())?.y).toBeGreaterThanOrEqual(0)
})

it('a person reads the dead letter of a refused event and sends the event again', async ({ open }) => {
  const page = await open({ viewport: phone })
  await page.goto(home)
  await button(page, 'Fill in an event that is refused').click()
  await button(page, 'Put the event').click()
  await page.getByRole('alert').getByText('The event was refused: invalid_').waitFor()
  const letter = page.locator('#queues li')
  await letter.getByText('The event').click()
  await letter.getByText('"user_id": "nobody"').waitFor()
  await letter.getByRole('button', { name: 'Send this queue again' }).click()
  await page.getByText('1 sent again.').waitFor()
})

it('the console puts an event, and shows a dead letter, with all digits of their numbers', async ({
  open,
}) => {
  const page = await open()
  const event = '{"detail-type":"traffic.reported","detail":{"bytes":9007199254740993}}'
  const letter = { queue: 'traffic-reported-dead-letters', sent_at: 1, reason: 'a reason', body: event }
  await page.route('**/_local/queues', (route) =>
    route.fulfill({ json: { queues: [], dead_letters: [letter] } }),
  )
  await page.route('**/_local/ops', (route) => route.fulfill({ json: { result: null, problem: '' } }))
  await page.goto(home)
  await page.locator('#queues li').getByText('The event').click()
  await page.locator('#queues pre').getByText('"bytes": 9007199254740993').waitFor()
  await button(page, 'Edit in the form').click()
  const [sent] = await Promise.all([
    page.waitForRequest('**/_local/ops'),
    button(page, 'Put the event').click(),
  ])
  expect((sent.postDataJSON() as { input: string }).input).toBe(event)
})

it.for(['hello', 'null', '{"detail-type":5}'])(
  'a dead letter that is no event is shown as it is, and the console goes on: %s',
  async (body, { open }) => {
    const page = await open()
    const letter = { queue: 'user-registered-dead-letters', sent_at: 1, reason: 'malformed_event', body }
    await page.route('**/_local/queues', (route) =>
      route.fulfill({ json: { queues: [], dead_letters: [letter] } }),
    )
    await page.goto(home)
    await page.getByText('running', { exact: true }).waitFor()
    expect(await page.locator('#queues pre').textContent()).toBe(body)
    expect(await button(page, 'Edit in the form').count()).toBe(0)
  },
)

it('a person rotates and revokes signing keys, and the console shows their new states', async ({ open }) => {
  const page = await open()
  await page.goto(home)
  const current = page.locator('#keys ol strong')
  await current.getByText('active').waitFor()
  await button(page, 'Rotate').click()
  await current.getByText('published').waitFor()
  await button(page, 'Rotate at once').click()
  await current.getByText('retiring').waitFor()
  await page.locator('#keys').getByRole('button', { name: 'Revoke' }).last().click()
  await current.getByText('retired').waitFor()
})

it('the console does not shift while it loads, however late the data of each panel arrives', async ({
  open,
}) => {
  const page = await open({ viewport: { width: 1280, height: 900 } })
  let delay = 0
  for (const path of ['users', 'events', 'keys', 'outbox', 'stack'])
    await page.route(`${home}${path}*`, async (route) => {
      await wait((delay += 150))
      await route.continue()
    })
  await page.addInitScript(`
    shift = 0
    const add = (list) => list.getEntries().forEach(({ value }) => (shift += value))
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
  `)
  await page.goto(home)
  await page.getByText('running', { exact: true }).waitFor()
  await page.waitForTimeout(500)
  expect(await page.evaluate<number>('shift')).toBeLessThan(0.05)
})
