import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Makes a directory for a test file, and deletes the directory after the file's last test. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'test-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
