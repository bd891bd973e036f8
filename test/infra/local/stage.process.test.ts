import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { synthesizeLocalStage } from '../../../infra/local/stage.ts'
import type { StackTemplate } from '../../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../../infra/stacks/add-stacks.ts'
import { newDirectory } from '../../support/new-directory.ts'

vi.mock('../../../infra/stacks/add-stacks.ts', { spy: true })

const directory = newDirectory()
// A random setting, so that no synthesis of an earlier test run is reused.
const exportCap = String(1 + Math.floor(Math.random() * 9_999))

const synthesize = (authUrl: string, corsOrigins: string) =>
  synthesizeLocalStage(join(directory, 'bundles'), { authUrl, corsOrigins, exportCap })

const textOf = (templates: StackTemplate[]) => JSON.stringify(templates.map(({ Resources }) => Resources))

// The addresses of the authorization page and of the sample app are no such settings.
it(
  'the local stage is synthesized again only if a setting changes that the stacks contain',
  { timeout: 120_000 },
  async () => {
    const [page, otherPage] = ['http://127.0.0.1:1111/', 'http://127.0.0.1:2222/']
    const [app, otherApp] = ['http://127.0.0.1:11112', 'http://127.0.0.1:22222']
    const first = textOf(await synthesize(page, app))
    expect(addStacks).toHaveBeenCalledTimes(1)
    expect(first).toContain(`"EXPORT_CAP":"${exportCap}"`)

    const again = await synthesize(otherPage, otherApp)
    expect(addStacks).toHaveBeenCalledTimes(1)
    expect(first).toContain(`"AUTH_URL":"${page}"`)
    expect(first).toContain(`"CORS_ORIGINS":"http://127.0.0.1:1111,${app}"`)
    expect(textOf(again)).toBe(first.replaceAll(app, otherApp).replaceAll(':1111', ':2222'))
    const bundles = again.flatMap(({ assetPaths }) => Object.values(assetPaths))
    expect(bundles.length).toBeGreaterThan(40)
    for (const bundle of bundles) {
      expect(bundle.startsWith(directory)).toBe(true)
      expect(readFileSync(join(bundle, 'index.mjs'), 'utf8')).toContain('handler')
    }
  },
)
