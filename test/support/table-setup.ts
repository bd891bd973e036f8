import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startSharedServer } from './start-shared-server.ts'

/** Vitest setup that makes one table with its keys available to all tests of the project `table`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startSharedServer({ script: join(import.meta.dirname, 'serve-table.ts') })
  project.provide('broker', server.url)
  return server.stop
}
