import { fork, type ChildProcess } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { listen } from './serve-http.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the broker, an HTTP server whose `GET /` returns the address of the server that tests share. */
    broker: string
  }
}

/** A server that the tests of a run share. */
export interface SharedServer {
  /** URL of the broker, which tells tests where the server is. */
  url: string
  /** What the server has sent about itself, such as URLs; undefined if it did not start. */
  described: Promise<unknown>
  /** Stops the server, and resolves when its process has ended. */
  stop: () => Promise<void>
}

interface Options {
  /** Path of the module that runs the server in a process of its own: see serve-for-parent.ts. */
  script: string
  environment?: NodeJS.ProcessEnv
  /** Answers requests for paths other than `/`. Returns false for paths that it does not know. */
  answer?: (url: URL, response: ServerResponse) => boolean
}

/**
 * Starts a server in a child process, without waiting until it runs. Tests get this server's address from a
 * second, small server: the broker.
 */
export async function startSharedServer({ script, environment, answer }: Options): Promise<SharedServer> {
  // The child gets none of the test runner's own flags, which are not meant for the server.
  const child = fork(script, { env: { ...process.env, ...environment }, execArgv: [] })
  const started = new Promise<unknown>((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code ?? 'a signal'}`)))
  })

  const { url, close } = await listen((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://broker')
    if (answer?.(asked, response) === true) return
    started.then(
      (description) => response.end(JSON.stringify(description)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  return {
    url,
    described: started.catch(() => undefined),
    stop: async () => {
      close()
      await endChild(child)
    },
  }
}

const endChild = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    if (child.connected) child.send('stop')
  })
