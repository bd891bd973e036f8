import { mkdirSync } from 'node:fs'
import { bundleDirectory, functionEntries } from '../../infra/bundle/functions.ts'

/**
 * Creates the directories of all bundles, empty if nothing has been bundled yet. Synthesis only needs them to
 * exist, so tests of templates need not wait for the bundler.
 */
export function makeBundleDirectories(): void {
  for (const entry of functionEntries()) mkdirSync(bundleDirectory(entry), { recursive: true })
}
