import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Lists violations of WCAG 2.0 to 2.2, levels A and AA, and of axe's best practices on the current page. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then((result) => result.violations)",
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Whether the page's content is wider than the window, so that the page scrolls sideways. */
export const scrollsSideways = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth')
