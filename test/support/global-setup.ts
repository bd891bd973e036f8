import { execFile, fork, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address that starts the shared stack on the first request, and hears of values that no log may hold. */
    stackBroker: string
  }
}

interface Addresses {
  baseUrl: string
  pageUrl: string
  environment: Record<string, string>
}

/**
 * Makes one local stack available to the whole run. It starts when a test first asks for it, so that a run of unit tests
 * alone does not pay for it. After the last test it fails the run when a marked secret stands in any line that a function
 * logged, or when a function was denied what it tried.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'test-run-'))
  const logFile = join(directory, 'functions.log')
  const secrets = new Set<string>()
  let child: ChildProcess | undefined
  let started: Promise<Addresses> | undefined
  let written: Promise<string> | undefined

  const start = (): Promise<Addresses> =>
    new Promise((resolve, reject) => {
      child = fork(join(import.meta.dirname, 'serve-stack.ts'), {
        env: { ...process.env, STACK_LOG_FILE: logFile },
        // The runner's own flags are not meant for the stack.
        execArgv: [],
      })
      child.once('message', (addresses) => resolve(addresses as Addresses))
      child.once('exit', (code) => reject(new Error(`the local stack ended with ${code ?? 'a signal'}`)))
    })

  const broker = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://broker')
    if (pathname === '/secret') {
      secrets.add(searchParams.get('value') ?? '')
      return void response.end()
    }
    if (pathname === '/openapi') {
      written ??= writeApiReference()
      return void written.then(
        (file) => response.end(file),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
    }
    started ??= start()
    started.then(
      (addresses) => response.end(JSON.stringify({ ...addresses, logFile })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve))
  project.provide('stackBroker', `http://127.0.0.1:${(broker.address() as AddressInfo).port}`)

  return async () => {
    broker.close()
    broker.closeAllConnections()
    if (child !== undefined) await endChild(child)
    const lines = [logFile, `${logFile}.previous`]
      .filter((file) => existsSync(file))
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    const leaked = lines.filter((line) =>
      [...secrets].some((secret) => secret !== '' && line.includes(secret)),
    )
    if (leaked.length > 0) throw new Error(`functions logged secrets:\n${leaked.join('\n')}`)
    const denied = lines.filter((line) => line.includes('AccessDenied'))
    if (denied.length > 0) throw new Error(`functions lack grants:\n${denied.join('\n')}`)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Writes the API reference in a process of its own, and resolves with its file. */
async function writeApiReference(): Promise<string> {
  const root = join(import.meta.dirname, '../..')
  const { stdout } = await promisify(execFile)(process.execPath, ['infra/openapi/write.ts'], { cwd: root })
  return stdout.trim()
}

const endChild = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.send('stop')
  })
