import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Size that a picture in a document may have, so that a page with some of them loads quickly. */
const maxBytes = 100_000

/**
 * Keeps what the window shows as a picture for a document, in the folder that `PICTURES` names (`npm run
 * pictures`), or else with the other screenshots. The browser encodes it as WebP, half the size of PNG.
 */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const png = (await page.screenshot()).toString('base64')
  const encoder = await page.context().newPage()
  const dataUrl = await encoder.evaluate<string>(`(async () => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,${png}')).blob())
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.8)
  })()`)
  await encoder.close()
  const webp = Buffer.from(dataUrl.replace(/^data:image\/webp;base64,/, ''), 'base64')
  expect(webp.length, name).toBeLessThanOrEqual(maxBytes)
  const folder = process.env.PICTURES ?? 'dist/screenshots'
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${name}.webp`), webp)
}
