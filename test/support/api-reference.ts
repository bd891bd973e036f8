import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { listen } from './serve-http.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that returns the path of the file with the API reference. The first request generates the file. */
    apiReference: string
  }
}

/**
 * Vitest setup that makes the API reference available to check-answers.ts. The reference is generated once
 * per run, when a test first needs it.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  let written: Promise<string> | undefined
  const { url, close } = await listen((_request, response) => {
    written ??= writeApiReference()
    written.then(
      (file) => response.end(file),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  project.provide('apiReference', url)
  return close
}

/** Generates the API reference in a process of its own, and resolves with the path of its file. */
async function writeApiReference(): Promise<string> {
  const root = join(import.meta.dirname, '../..')
  const { stdout } = await promisify(execFile)(process.execPath, ['infra/openapi/write.ts'], { cwd: root })
  // The program prints the paths of several files. The first is that of the API reference.
  const [file = ''] = stdout.split('\n', 1)
  return file
}
