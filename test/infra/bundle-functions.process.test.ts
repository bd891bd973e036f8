import { statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleDirectory, bundleFunctions } from '../../infra/bundle-functions.ts'
import { routes } from '../../infra/routes.ts'

/** Every byte of a bundle is read and compiled at each cold start. */
const maxReadBytes = 265_000

describe('the bundle', () => {
  beforeAll(() => bundleFunctions())

  const reads = routes.filter(({ method }) => method === 'GET').map(({ entry }) => entry)
  it.each([...new Set(reads)])('of %s stays small', (entry) => {
    expect(statSync(join(bundleDirectory(entry), 'index.mjs')).size).toBeLessThan(maxReadBytes)
  })
})
