import { expect } from 'vitest'
import { stack } from '../support/oauth.ts'
import { findViolations, scrollsSideways } from './support/accessibility.ts'
import { it } from './support/browser-test.ts'
import { button } from './support/page-steps.ts'

const home = `${stack.base_url}/_local/`

const widths = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]
const views = widths.flatMap((viewport) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ viewport, colorScheme })),
)

it.for(views)(
  'a demo user signs in by one click and tries the API, on pages without accessibility findings: $viewport.width $colorScheme',
  async ({ viewport, colorScheme }, { open }) => {
    const page = await open({ viewport, colorScheme })
    const check = async (name: string) => {
      // Screenshots are for people to look at: .ci/run keeps them.
      await page.screenshot({
        path: `dist/screenshots/${name}-${viewport.width}-${colorScheme}.png`,
        fullPage: true,
      })
      expect(await findViolations(page), name).toEqual([])
      expect(await scrollsSideways(page), name).toBe(false)
    }
    await page.goto(home)
    await button(page, 'Put the event').waitFor()
    await check('console')
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

it('a person puts events, reads the dead letter of a refused event and sends it again', async ({ open }) => {
  const page = await open()
  await page.goto(home)
  await button(page, 'Put the event').click()
  await page.getByText('The event has taken effect.').waitFor()
  await button(page, 'Fill in an event that is refused').click()
  await button(page, 'Put the event').click()
  await page.getByText('The event was refused: invalid_').waitFor()
  const letter = page.locator('#queues li')
  await letter.getByText('The event').click()
  await letter.getByText('"user_id": "nobody"').waitFor()
  await letter.getByRole('button', { name: 'Send this queue again' }).click()
  await page.getByText('1 sent again.').waitFor()
})

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
