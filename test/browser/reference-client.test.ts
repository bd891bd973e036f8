import { createGuardrails, generate } from 'otplib'
import type { Page } from 'playwright-core'
import { describe, expect, inject } from 'vitest'
import { demoPassword, demoUsers } from '../../infra/local/demo/demo-users.ts'
import { findViolations, scrollsSideways } from './support/accessibility.ts'
import { it } from './support/browser-test.ts'
import { mailedCode, newUser } from './support/new-user.ts'
import { button, giveCode, givePassword, heading } from './support/page-steps.ts'
import { putEvent } from './support/stack-clients.ts'

const openClient = async (page: Page) => {
  await page.goto(`${inject('stack').baseUrl}/_local/`)
  await button(page, 'Sign in with demo-app').click()
  await heading(page, 'Sign in').waitFor()
}

const panel = (page: Page, id: string) => page.locator(`section#${id}`)
const rows = (page: Page, id: string) => panel(page, id).locator('tbody tr')

/**
 * The current code of Alice's authenticator. Lowers otplib's minimum secret length, because her demo secret
 * is shorter than RFC 4226 allows.
 */
const aliceCode = () =>
  generate({
    secret: demoUsers[0]?.totp_secret ?? '',
    guardrails: createGuardrails({ MIN_SECRET_BYTES: 10 }),
  })

async function signInAlice(page: Page): Promise<void> {
  await openClient(page)
  const email = 'alice@example.com'
  await givePassword(page, { email, password: demoPassword })
  // Her mail waits for a second, and is not sent to who has signed in by then.
  await mailedCode({ email })
  await page.getByRole('button', { name: 'Authenticator app' }).click()
  await giveCode(page, await aliceCode())
  await button(page, 'Allow').click()
  await page.getByText('Signed in as Alice alice@example.com').waitFor()
  expect(page.url()).toBe(`${inject('stack').baseUrl}/_local/`)
  await panel(page, 'token').getByText('verified with jose').waitFor()
  expect(await panel(page, 'token').innerText()).toContain('"aud": "demo-app"')
}

/** Reloads the console until all demo data has been applied, because the stack answers before that. */
const awaitDemoData = (page: Page) =>
  expect
    .poll(
      async () => {
        await page.reload()
        await panel(page, 'bills').getByText('5 in all').waitFor({ timeout: 1000 })
        await panel(page, 'balances')
          .getByRole('cell', { name: '12.25', exact: true })
          .waitFor({ timeout: 1000 })
        return true
      },
      { timeout: 30_000 },
    )
    .toBe(true)

async function useEarnings(page: Page): Promise<void> {
  await panel(page, 'earnings').locator('canvas').waitFor()
  await panel(page, 'earnings').getByText('As a table').click()
  expect(await panel(page, 'earnings').locator('details tbody tr').count()).toBe(30)
}

async function useBills(page: Page): Promise<void> {
  const bills = panel(page, 'bills')
  await bills.getByText('page 1 of 1, 5 in all').waitFor()
  await bills.getByLabel('Direction').selectOption('debit')
  await bills.getByText('1 in all').waitFor()
  expect(await rows(page, 'bills').innerText()).toContain('−12.25 USDT')
  await bills.getByLabel('Direction').selectOption('both')
  await bills.getByLabel('Wallet').selectOption('Reward')
  await bills.getByText(/page 1 of [45]/).waitFor()
  const first = await rows(page, 'bills').first().innerText()
  await bills.getByRole('button', { name: 'Next' }).click()
  await bills.getByText(/page 2 of [45]/).waitFor()
  expect(await rows(page, 'bills').first().innerText()).not.toBe(first)
  await bills.getByLabel('From').fill('2999-01-01')
  await bills.getByText('No bill matches.').waitFor()
}

/** Lets the API, API Gateway and a proxy refuse the bills, and checks that the panel says why. */
async function useRefusedBills(page: Page): Promise<void> {
  const bills = panel(page, 'bills')
  const endpoint = '**/bonus-account/bills?*'
  await bills.getByLabel('Wallet').selectOption('Asset')
  const envelope = { code: 50300, msg: 'temporarily unavailable, try again', data: null }
  for (const [answer, shown] of [
    [{ status: 503, headers: { 'retry-after': '3' }, json: envelope }, /\(50300\); try again in 3 s/],
    [{ status: 429, json: { message: 'Too Many Requests' } }, /the service is busy.*\(429\)/],
    [{ status: 502, body: '<html>Bad Gateway</html>' }, /the service did not answer \(502\)/],
  ] as const) {
    await page.route(endpoint, (route) => route.fulfill(answer))
    await bills.getByLabel('Wallet').selectOption('Reward')
    await bills.getByText(shown).waitFor()
    await page.unroute(endpoint)
    await bills.getByLabel('Wallet').selectOption('Asset')
    await bills.getByText(shown).waitFor({ state: 'hidden' })
  }
}

async function useCommunity(page: Page): Promise<void> {
  const community = panel(page, 'community')
  await community.getByText('3 in all').waitFor()
  await community.getByLabel('Note on Bob').fill('met in Lisbon')
  await community.getByRole('row', { name: 'Bob' }).getByRole('button', { name: 'Save' }).click()
  await community.getByText('saved').waitFor()
  await community.getByLabel('Keyword').fill('bob')
  await page.keyboard.press('Enter')
  await community.getByText('1 in all').waitFor()
  expect(await community.getByLabel('Note on Bob').inputValue()).toBe('met in Lisbon')
  await community.getByLabel('Keyword').fill('')
  await page.keyboard.press('Enter')
  await community.getByLabel('Show').selectOption('entire downline')
  await community.getByText('page 1 of 2, 8 in all').waitFor()
  const downloaded = page.waitForEvent('download')
  await community.getByRole('button', { name: 'Export as CSV' }).click()
  expect((await downloaded).suggestedFilename()).toBe('members.csv')
}

async function useDeposit(page: Page): Promise<void> {
  const deposit = panel(page, 'deposit')
  await deposit.getByRole('img', { name: /^QR code of TDemo/ }).waitFor()
  await deposit.getByLabel('Currency and network').selectOption('BTC on Bitcoin')
  await deposit.getByRole('img', { name: /^QR code of bc1qdemo/ }).waitFor()
}

async function checkStackPanels(page: Page): Promise<void> {
  await panel(page, 'keys').getByText('active').waitFor()
  await panel(page, 'keys').locator('svg rect.active').waitFor()
  expect(await panel(page, 'outbox').innerText()).toContain('alice@example.com')
  expect(await panel(page, 'users').innerText()).toContain('JBSWY3DPEHPK3PXP')
}

async function checkAccessibility(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await findViolations(page)).toEqual([])
  expect(await scrollsSideways(page)).toBe(false)
}

async function signOut(page: Page): Promise<void> {
  await button(page, 'Sign out').click()
  await button(page, 'Sign in with demo-app').waitFor()
  await page.reload()
  await button(page, 'Sign in with demo-app').waitFor()
}

describe('the reference client', () => {
  it('the reference client signs Alice in by the code flow, and every panel shows its data', async ({
    open,
  }) => {
    const page = await open({ viewport: { width: 1440, height: 1000 } })
    page.setDefaultTimeout(20_000)
    await signInAlice(page)
    await awaitDemoData(page)
    await useEarnings(page)
    await useBills(page)
    await useRefusedBills(page)
    await useCommunity(page)
    await useDeposit(page)
    await checkStackPanels(page)
    await checkAccessibility(page)
    await signOut(page)
  }, 180_000)

  it('the reference client reports that the user denied access', async ({ open }) => {
    const user = await newUser()
    const page = await open()
    await openClient(page)
    await givePassword(page, user)
    await giveCode(page, await mailedCode(user))
    await button(page, 'Deny').click()
    await page.getByRole('alert').getByText('You did not allow it').waitFor()
    expect(page.url()).toBe(`${inject('stack').baseUrl}/_local/`)
  })

  it('the console redirects from localhost to 127.0.0.1', async ({ open }) => {
    const { baseUrl } = inject('stack')
    const page = await open()
    await page.goto(`${baseUrl.replace('127.0.0.1', 'localhost')}/_local/`)
    await page.waitForURL(`${baseUrl}/_local/`)
  })
})

describe('the console’s view of the local stack', () => {
  it('the console shows a rejected event with its reason and content', async ({ open }) => {
    const page = await open()
    await page.goto(`${inject('stack').baseUrl}/_local/`)
    const quote = `X${String(Date.now()).slice(-8)}`
    await putEvent('rates.published', { quote, as_of: Date.now(), rates: {} })
    const queues = panel(page, 'queues')
    await queues.getByText('rates-published-dead-letters').first().waitFor()
    await queues.getByText(/quote/i).first().waitFor()
    await queues.getByText('The event').first().click()
    await queues.getByText(quote).waitFor()
  })
})
