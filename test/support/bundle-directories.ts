import { globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundleDirectory } from '../../infra/bundle-functions.ts'

/**
 * Creates the directories of all bundles, empty if nothing has been bundled yet. Synthesis only needs them to
 * exist, so tests of templates need not wait for the bundler.
 */
export function makeBundleDirectories(): void {
  const functions = join(import.meta.dirname, '../../functions')
  for (const file of globSync('**/*.ts', { cwd: functions }))
    mkdirSync(bundleDirectory(file.replace(/\.ts$/, '')), { recursive: true })
}
