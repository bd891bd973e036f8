import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { stack } from '../../support/oauth.ts'
import type { TestUser } from '../../support/sign-in.ts'
import { ClientApp } from './client-app.ts'
import { httpsAppDomain } from './https-app.ts'
import { launchBrowser } from './launch-browser.ts'
import { type Session, signIn } from './page-steps.ts'
import { newUser } from './users.ts'

interface Fixtures {
  browser: Browser
  app: ClientApp
  /**
   * Opens a page in a new browser profile. Script errors of the page, and its requests to other sites, fail
   * the test at the end.
   */
  open: (options?: BrowserContextOptions) => Promise<Page>
  /** Opens a page at the URL of the app's authorization request. `changes` replaces some parameters. */
  openRequest: (changes?: Record<string, string>) => Promise<Page>
  /** Opens a page, and signs in a new user with an authenticator, up to the consent step. */
  signedIn: (changes?: Record<string, string>) => Promise<{ page: Page; user: TestUser; session: Session }>
}

/** Chromium logs this for a failed request. It fails no test, because the page handles such failures. */
const failedRequestMessage =
  /^Failed to load resource: (the server responded with a status of [45]\d\d|net::ERR_)/

/** Vitest's `it` with fixtures: a browser, pages in it, and an OAuth client app. */
export const it = test.extend<Fixtures>({
  browser: [
    // eslint-disable-next-line no-empty-pattern -- vitest finds a fixture's dependencies in this pattern
    async ({}, use) => {
      const browser = await launchBrowser()
      await use(browser)
      await browser.close()
    },
    { scope: 'file' },
  ],
  // eslint-disable-next-line no-empty-pattern -- as above
  app: async ({}, use) => {
    using app = await ClientApp.start(stack.base_url)
    await use(app)
  },
  open: async ({ browser, app }, use) => {
    const known = [stack.base_url, stack.page_url, stack.app_url, app.origin]
    const problems: string[] = []
    const pages: Page[] = []
    await use(async (options) => {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      pages.push(page)
      page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type()) && !failedRequestMessage.test(message.text()))
          problems.push(`console: ${message.text()}`)
      })
      context.on('request', (request) => {
        const { protocol, origin } = new URL(request.url())
        const isKnown = known.includes(origin) || origin.endsWith(httpsAppDomain)
        if (!['data:', 'blob:'].includes(protocol) && !isKnown) problems.push(`request to ${origin}`)
      })
      return page
    })
    for (const page of pages) await page.context().close()
    expect(problems).toEqual([])
  },
  openRequest: ({ open, app }, use) =>
    use(async (changes) => {
      const page = await open()
      await page.goto(await app.authorizationUrl(changes))
      return page
    }),
  signedIn: ({ open, app }, use) =>
    use(async (changes) => {
      const user = await newUser({ authenticator: true })
      const page = await open()
      return { page, user, session: await signIn(page, await app.authorizationUrl(changes), user) }
    }),
})
