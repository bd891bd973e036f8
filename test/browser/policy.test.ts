import { expect } from 'vitest'
import { stack } from '../support/oauth.ts'
import { serveHttp } from '../support/serve-http.ts'
import { it } from './support/browser-test.ts'

it('the authorization page has a strict Content-Security-Policy and other security headers', async () => {
  const { page_url: pageUrl, base_url: baseUrl } = stack
  const { headers } = await fetch(pageUrl)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).not.toMatch(/unsafe|\*/)
  expect(policy).toContain(`connect-src ${baseUrl};`)
  expect(Object.fromEntries(headers)).toMatchObject({
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  })
})

const serveSite = (html: string, use: (url: string) => Promise<void>): Promise<void> =>
  serveHttp((_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(html), use)

it('another site cannot frame the authorization page', async ({ browser }) => {
  const page = await browser.newPage()
  await serveSite(`<title>frame</title><iframe src="${stack.page_url}">`, async (url) => {
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    await page.goto(url)
    await refused
    await page.close()
  })
})

it('a site cannot control a window in which it opens the authorization page', async ({ browser }) => {
  const page = await browser.newPage()
  await serveSite('<title>opener</title>', async (url) => {
    await page.goto(url)
    const opened = page.waitForEvent('popup')
    await page.evaluate(`void (globalThis.opened = open(${JSON.stringify(stack.page_url)}))`)
    const popup = await opened
    await popup.getByText('Nothing to sign in to yet').waitFor()
    expect(await popup.evaluate('opener')).toBeNull()
    expect(await page.evaluate('opened.closed')).toBe(true)
    await page.context().close()
  })
})

it('the authorization page connects only to the API and cannot apply inline styles', async ({ browser }) => {
  const { page_url: pageUrl, aws_endpoint: awsUrl } = stack
  const page = await browser.newPage()
  await page.goto(pageUrl)
  const violations = await page.evaluate<string[]>(
    `new Promise((resolve) => {
      const seen = new Set()
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        seen.add(effectiveDirective)
        if (seen.size === 2) resolve([...seen])
      })
      fetch(${JSON.stringify(awsUrl)}).catch(() => undefined)
      const style = document.createElement('style'); style.textContent = 'body { color: red }'; document.head.append(style)
    })`,
  )
  await page.close()
  expect(violations.toSorted()).toEqual(['connect-src', 'style-src-elem'])
})
