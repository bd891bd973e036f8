import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { demoPassword, demoUsers } from '../../infra/local/demo/demo-users.ts'
import { failures, statusOf, type FailureName } from '../../shared/errors.ts'
import { bearer } from '../support/oauth-clients.ts'
import { expectRefused, stack } from '../support/oauth.ts'
import { putEvents } from '../support/put-event.ts'
import { toTestUser, update } from '../support/sign-in.ts'
import { it } from './support/browser-test.ts'
import { keepPicture } from './support/keep-picture.ts'
import { button, heading } from './support/page-steps.ts'
import { newUser } from './support/users.ts'
import { appPages, awaitData, checkLooks, openApp, reloadUntil, signInFromApp } from './support/wallet-app.ts'

const authenticator = true

const adjust = (userId: number, amounts: string[], changes: object = {}) =>
  putEvents(
    'wallet.adjusted',
    amounts.map((amount) => ({
      adjustment_id: randomUUID(),
      user_id: userId,
      wallet: 'asset',
      currency: 'USDT',
      amount,
      direction: 1,
      reason: 'a reason',
      at: 1_700_000_000_000,
      ...changes,
    })),
  )

it('Alice signs in with the app, whose pages are accessible and never scroll sideways', async ({ open }) => {
  const [demoUser = {}] = demoUsers
  const alice = { ...toTestUser({ ...demoUser, login_password: '' }), password: demoPassword }
  const page = await open()
  await page.goto(stack.app_url)
  await checkLooks(page, 'app sign-in')
  await openApp(page, alice)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 900 })
  await awaitData(page)
  await page.locator('.chart canvas').waitFor()
  await keepPicture(page, 'app')
  for (const [name, path] of appPages) {
    await page.getByRole('link', { name, exact: true }).click()
    await heading(page, name).waitFor()
    await checkLooks(page, `app ${name.toLowerCase()}`)
    expect(new URL(page.url()).pathname).toBe(path)
    expect(await page.title()).toBe(`${name} · Wallet`)
  }
}, 180_000)

it('a user who has nothing is told on each page what will be there', async ({ open }) => {
  const page = await open()
  await openApp(page, await newUser({ authenticator }))
  const texts = {
    Overview: ['You hold nothing yet.', 'No rewards yet.', 'You earned nothing in this window.'],
    Wallets: [
      'This wallet is empty.',
      'No withdrawals yet.',
      'No transactions here.',
      'Page 1 of 1 · 0 transactions',
    ],
    Community: ['Nobody here yet.'],
    Deposits: ['No deposits here.'],
  }
  for (const [name] of appPages) {
    await page.getByRole('link', { name, exact: true }).click()
    for (const text of texts[name]) await page.getByText(text).waitFor()
    await checkLooks(page, `app empty ${name.toLowerCase()}`)
  }
})

it('amounts keep all their digits', async ({ open }) => {
  const user = await newUser({ authenticator })
  await adjust(user.userId, ['12345678901234567890.123456789012345678', '0.000000000000000001'])
  const page = await open()
  await openApp(page, user, '/wallets')
  await reloadUntil(page, 'Page 1 of 1 · 2')
  const text = await page.locator('main').innerText()
  expect(text).toContain('12,345,678,901,234,567,890.123456789012345679')
  expect(text).toContain('+0.000000000000000001 USDT')
  await checkLooks(page, 'app long amounts')
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('12,345,678,901,234,567,890.123456789012345679 USDT').waitFor()
  await checkLooks(page, 'app long total')
})

it('long names and names from right to left do not widen the app', async ({ open }) => {
  const nickname = 'ليلى \u0645\u062d\u0645\u0648\u062f'
  const user = await newUser({ authenticator, nickname })
  await newUser({
    referrer_id: user.userId,
    nickname: 'Wolfeschlegelsteinhausenbergerdorffvoralternwarengewissen',
  })
  await newUser({ referrer_id: user.userId, nickname })
  const page = await open()
  await openApp(page, user, '/community')
  await page.getByText('Wolfeschlegel').waitFor()
  await checkLooks(page, 'app long names')
})

/** Opens the wallets page of a new user whose transactions fill two pages and begin a third. */
async function openTransactions(page: Page) {
  const user = await newUser({ authenticator })
  await adjust(
    user.userId,
    Array.from({ length: 21 }, (_, index) => `${index + 1}`),
  )
  await openApp(page, user, '/wallets')
  await reloadUntil(page, 'Page 1 of 3 · 21 transactions')
}

it('the filter and the page of transactions are kept in the address, so that Back undoes them', async ({
  open,
}) => {
  const page = await open()
  await openTransactions(page)
  const shows = async (text: string) => page.getByText(text).waitFor()
  await button(page, 'Last').click()
  await shows('Page 3 of 3 · 21 transactions')
  expect(await page.getByRole('region', { name: 'Transactions' }).locator('tbody tr').count()).toBe(1)
  await page.getByLabel('Direction').selectOption('Out')
  await shows('Page 1 of 1 · 0 transactions')
  expect(page.url()).toMatch(/\?amountDirection=2$/)
  await page.goBack()
  await shows('Page 3 of 3 · 21 transactions')
})

it('all pages of the transactions are saved as one CSV', async ({ open }) => {
  const page = await open()
  await openTransactions(page)
  const downloaded = page.waitForEvent('download')
  await button(page, 'Save as CSV').click()
  const csv = await readFile(await (await downloaded).path(), 'utf8')
  expect(csv.trim().split('\r\n')).toHaveLength(22)
})

it('a withdrawal shows, once it is settled, what was paid out and the fee, which has a bill of its own', async ({
  open,
}) => {
  const user = await newUser({ authenticator })
  await adjust(user.userId, ['100'])
  const page = await open()
  await openApp(page, user, '/wallets')
  await reloadUntil(page, 'Page 1 of 1 · 1 transactions')
  const withdrawal = { withdrawal_id: randomUUID(), user_id: user.userId, currency: 'USDT', amount: '40' }
  const report = (status: string, more: object = {}) =>
    putEvents('withdrawal.updated', [{ ...withdrawal, ...more, status, at: Date.now() }])
  const row = page
    .getByRole('region', { name: 'withdrawals' })
    .getByRole('row', { name: withdrawal.withdrawal_id })
  await report('requested')
  await reloadUntil(page, 'Page 1 of 1 · 1 withdrawals')
  expect(await row.innerText()).toMatch(/\s40\s+—\s+—\s+Requested$/)
  await report('settled', { settled_amount: '38.5', fee: '1.000000000000000001' })
  await reloadUntil(page, 'Page 1 of 1 · 3 transactions')
  expect(await row.innerText()).toMatch(/\s40\s+38\.5\s+1\.000000000000000001\s+Settled$/)
  await page.getByLabel('Type').selectOption('Withdrawal fee')
  await page.getByText('−1.000000000000000001 USDT').waitFor()
  await checkLooks(page, 'app withdrawals')
})

/** Opens the community page of a new user who has referred one member, and focuses the note on the member. */
async function openNote(page: Page) {
  const user = await newUser({ authenticator })
  await newUser({ referrer_id: user.userId, nickname: 'Friend' })
  await openApp(page, user, '/community')
  const note = page.getByRole('textbox', { name: 'Note on Friend' })
  await note.focus()
  return note
}

it('Escape takes back a note that is too long to be saved', async ({ open }) => {
  const page = await open()
  const note = await openNote(page)
  await page.keyboard.type('twenty-one characters')
  await page.getByText('21 of 20 characters').waitFor()
  expect(await button(page, 'Save').isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  expect(await note.inputValue()).toBe('')
})

it('a note is edited in place with the keyboard', async ({ open }) => {
  const page = await open()
  const note = await openNote(page)
  await page.keyboard.type('met in Łódź')
  await page.keyboard.press('Enter')
  await button(page, 'Save').waitFor({ state: 'detached' })
  expect(await note.inputValue()).toBe('met in Łódź')
  expect(await note.evaluate('document.activeElement.value')).toBe('met in Łódź')
  const downloaded = page.waitForEvent('download')
  await button(page, 'Save as CSV').click()
  expect(await readFile(await (await downloaded).path(), 'utf8')).toContain('met in Łódź')
})

it('members of the whole downline are found by part of their name', async ({ open }) => {
  const user = await newUser({ authenticator })
  const friend = await newUser({ referrer_id: user.userId, nickname: 'Friend' })
  await newUser({ referrer_id: friend.userId, nickname: 'Grandchild' })
  const page = await open()
  await openApp(page, user, '/community')
  await page.getByLabel('Show').selectOption('Whole downline')
  await page.getByText('2 members').waitFor()
  await page.getByLabel('Name or email').fill('grand')
  await page.keyboard.press('Enter')
  await page.getByText('1 members').waitFor()
  expect(page.url()).toContain('type=COMMUNITY&keyword=grand')
})

it('the earnings of today are shown where the day of the service began before that of UTC', async ({
  open,
}) => {
  const user = await newUser({ authenticator })
  const reward = { reward_id: randomUUID(), user_id: user.userId, reward_type: 'NODE', currency: 'USDT' }
  const earned_on = new Date().toISOString().slice(0, 10)
  await putEvents('reward.granted', [{ ...reward, amount: '7.000000000000000007', earned_on }])
  const page = await open()
  await openApp(page, user)
  await page.clock.setFixedTime(Date.now() - 86_400_000)
  await reloadUntil(page, 'Node')
  await page.locator('.readout').getByText('7.000000000000000007').waitFor()
})

it('a deposit address has a QR code and is copied by one click', async ({ open }) => {
  const user = await newUser({ authenticator })
  const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
  await openApp(page, user, '/deposits')
  const address = await page.locator('.copyable code').innerText()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await button(page, 'Copy').click()
  await page.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address)
})

it('a deposit shows its own currency, also where the app knows its network by another one', async ({
  open,
}) => {
  const user = await newUser({ authenticator })
  const [address, batch_id] = [randomUUID(), randomUUID()]
  const place = { currency: 'USDC', currency_network: 'TRC20' }
  await putEvents('addresses.provisioned', [
    { ...place, batch_id, required_confirmations: 3, addresses: [{ address }] },
  ])
  await putEvents('address.assigned', [{ ...place, user_id: user.userId, address, at: Date.now() }])
  const seen = { ...place, address, txid: randomUUID(), output_index: 0, amount: '7', confirmations: 1 }
  await putEvents('deposit.updated', [{ ...seen, status: 'confirming', at: Date.now() }])
  const page = await open()
  await openApp(page, user, '/deposits')
  await page.getByText('USDC on TRC20').waitFor()
})

it('the confirmations of a deposit move while the page is open', async ({ open }) => {
  const user = await newUser({ authenticator })
  const page = await open()
  await openApp(page, user, '/deposits')
  const address = await page.locator('.copyable code').innerText()
  const seen = { currency_network: 'TRC20', currency: 'USDT', txid: randomUUID(), output_index: 0, address }
  const report = (status: string, confirmations: number) =>
    putEvents('deposit.updated', [
      { ...seen, amount: '7.000000000000000007', status, confirmations, at: Date.now() },
    ])
  await report('confirming', 7)
  await page.getByText('7 of 20').waitFor()
  await page.getByText('Confirming', { exact: true }).waitFor()
  await report('confirmed', 20)
  await page.getByText('20 of 20').waitFor()
  await page.getByText('Credited', { exact: true }).waitFor()
  await page.getByText('7.000000000000000007 USDT').waitFor()
})

it('the sign-in after a session that ended in the app leads back to the same page', async ({ open }) => {
  const user = await newUser({ authenticator })
  const page = await open()
  await openApp(page, user, '/community?type=COMMUNITY')
  await update({ user_id: user.userId, at: Date.now(), disabled: true })
  await page.getByLabel('Show').selectOption('Direct referrals')
  await heading(page, 'Your session has ended').waitFor()
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('access_token')
  await update({ user_id: user.userId, at: Date.now(), disabled: false })
  // The code of the next half minute, because each is taken once.
  await signInFromApp(page, user, Date.now() + 30_000)
  await heading(page, 'Community').waitFor()
})

it('signing out revokes the app’s token and leaves nothing of it in the browser', async ({ open }) => {
  const page = await open()
  const user = await newUser({ authenticator })
  const answered = page.waitForResponse('**/oauth2/token')
  await openApp(page, user)
  const { access_token: token } = (await (await answered).json()) as { access_token: string }
  const { status } = await fetch(`${stack.base_url}/account/info`, { headers: bearer(token) })
  expect(status).toBe(200)
  await button(page, 'Sign out').click()
  // The service leads back to the app: the user had not chosen to stay signed in there.
  await heading(page, 'Your wallet, community and rewards').waitFor()
  expect(new URL(page.url()).origin).toBe(stack.app_url)
  await expectRefused(token)
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('access_token')
})

it('every failure of the catalogue is shown in words of its own, not as a code', async ({ open }) => {
  const page = await open()
  await openApp(page, await newUser({ authenticator }))
  const shown = new Set<string>()
  const names = Object.keys(failures) as FailureName[]
  for (const name of names.filter((one) => one !== 'unauthenticated')) {
    const { code, msg } = failures[name]
    await page.route('**/dashboard/overview', (route) =>
      route.fulfill({
        status: statusOf(name),
        json: { code, msg, data: null },
        // Too long to wait for.
        headers: {
          'retry-after': '3600',
          'access-control-allow-origin': stack.app_url,
          'access-control-expose-headers': 'retry-after',
        },
      }),
    )
    await page.reload()
    const text = await page.getByRole('alert').first().locator('p').innerText()
    expect(text).not.toMatch(new RegExp(`\\d{5}|${name}`))
    shown.add(text)
    await page.unroute('**/dashboard/overview')
  }
  expect(shown.size).toBe(names.length - 1)
})

it.for([429, 503])(
  'after %i the app waits as Retry-After says, says so, and goes on by itself',
  async (status, { open }) => {
    const page = await open()
    await openApp(page, await newUser({ authenticator }))
    const asked: number[] = []
    await page.route('**/dashboard/overview', (route) => {
      asked.push(Date.now())
      if (asked.length > 1) return route.continue()
      // Answered by the gateway itself, so without an envelope.
      return route.fulfill({
        status,
        json: { message: 'Too Many Requests' },
        headers: {
          'retry-after': '2',
          'access-control-allow-origin': stack.app_url,
          'access-control-expose-headers': 'retry-after',
        },
      })
    })
    await page.reload()
    await page.getByText('The service is busy. Trying again in').first().waitFor()
    await page.getByText('Active devices').waitFor()
    expect(asked).toHaveLength(2)
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(2000)
  },
)

it('the app has a strict Content-Security-Policy', async () => {
  const policy = (await fetch(stack.app_url)).headers.get('content-security-policy') ?? ''
  expect(policy).not.toMatch(/unsafe|\*/)
  expect(policy).toContain(`connect-src ${stack.base_url};`)
})
