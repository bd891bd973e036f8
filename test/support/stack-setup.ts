import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startOnDemand } from './start-on-demand.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL to which tests report every value that no log line may contain. */
    secrets: string
  }
}

/**
 * Vitest setup that makes one local stack available to all tests of the project `stack`. It starts when a
 * test first asks for it. After the last test the run fails if a function logged a value that mark-secret.ts
 * registered, if a function was denied a call, or if an event was rejected with a code that it does not
 * declare.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'test-run-'))
  const logFile = join(directory, 'functions.log')
  const secrets = new Set<string>()
  const server = await startOnDemand({
    script: join(import.meta.dirname, 'serve-stack.ts'),
    environment: { STACK_LOG_FILE: logFile },
    answer({ pathname, searchParams }, response) {
      if (pathname !== '/secret') return false
      secrets.add(searchParams.get('value') ?? '')
      response.end()
      return true
    },
  })
  project.provide('broker', server.url)
  project.provide('secrets', `${server.url}/secret`)

  return async () => {
    await server.stop()
    const lines = [logFile, `${logFile}.previous`]
      .filter((file) => existsSync(file))
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    const leaked = lines.filter((line) =>
      [...secrets].some((secret) => secret !== '' && line.includes(secret)),
    )
    if (leaked.length > 0) throw new Error(`functions logged secrets:\n${leaked.join('\n')}`)
    const undeclared = lines.filter((line) => line.includes('undeclared rejection'))
    if (undeclared.length > 0)
      throw new Error(`events were refused for reasons that they do not declare:\n${undeclared.join('\n')}`)
    const denied = lines.filter((line) => line.includes('AccessDenied'))
    if (denied.length > 0) throw new Error(`functions lack grants:\n${denied.join('\n')}`)
    rmSync(directory, { recursive: true, force: true })
  }
}
