import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a directory that is deleted when the test run ends. */
export const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'test-'))
