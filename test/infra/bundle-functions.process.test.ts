import { build } from 'esbuild'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { bundleDirectory, bundleFunctions } from '../../infra/bundle-functions.ts'
import { routes } from '../../infra/routes.ts'

vi.mock('esbuild', { spy: true })

/**
 * Maximum bundle size of a function that answers GET requests: a cold start reads and compiles every byte.
 */
const maxReadBytes = 265_000

describe('bundleFunctions', () => {
  beforeAll(() => bundleFunctions())

  const reads = routes.filter(({ method }) => method === 'GET').map(({ entry }) => entry)
  it.each([...new Set(reads)])('the bundle of %s is small enough for a fast cold start', (entry) => {
    expect(statSync(join(bundleDirectory(entry), 'index.mjs')).size).toBeLessThan(maxReadBytes)
  })

  it('a function is not bundled again while its sources stay the same', async () => {
    vi.mocked(build).mockClear()
    const bundles = await bundleFunctions()
    expect(build).not.toHaveBeenCalled()
    expect(bundles.get('account/info')).toMatch(/^[0-9a-f]{64}$/)
  })
})
