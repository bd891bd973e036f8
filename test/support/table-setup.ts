import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type SharedServer, startSharedServer } from './start-shared-server.ts'

/** The server that the tests of a run share. It is global, because each project loads this module again. */
const run = globalThis as { tableServer?: Promise<SharedServer> }

/** Vitest setup that makes one table and its KMS keys available to all files `*.table.test.ts`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.tableServer ??= startSharedServer({ script: join(import.meta.dirname, 'serve-table.ts') })
  const server = await run.tableServer
  project.provide('broker', server.url)
  return server.stop
}
