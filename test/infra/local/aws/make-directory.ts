import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Returns a path for an endpoint's data, which does not exist yet and is deleted after the test. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'aws-endpoint-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'data')
}
