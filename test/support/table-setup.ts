import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startOnDemand } from './start-on-demand.ts'

/**
 * Vitest setup that makes one table with its keys available to all tests of the project `table`. It starts
 * when a test first asks for it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startOnDemand({ script: join(import.meta.dirname, 'serve-table.ts') })
  project.provide('broker', server.url)
  return server.stop
}
