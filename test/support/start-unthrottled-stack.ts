import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A local stack in a process of its own. */
export interface UnthrottledStack extends AsyncDisposable {
  baseUrl: string
  pageUrl: string
  /** File with every line that the functions log; the 20 MB before are in the same name with `.previous`. */
  logFile: string
  pid: number
}

/**
 * Starts a local stack with demo data that no load reaches the throttles of, and gives this process the
 * environment of a function. Import modules of shared/ afterwards: they read it when they load.
 */
export async function startUnthrottledStack(dataDirectory?: string): Promise<UnthrottledStack> {
  const server = fork(
    join(import.meta.dirname, 'serve-unthrottled-stack.ts'),
    dataDirectory === undefined ? [] : [dataDirectory],
    { execArgv: [] },
  )
  const ended = once(server, 'exit').then(([code]) => {
    throw new Error(`the local stack ended with ${String(code)}`)
  })
  ended.catch(() => undefined)
  const [{ environment, ...description }] = (await Promise.race([once(server, 'message'), ended])) as [
    { environment: Record<string, string>; baseUrl: string; pageUrl: string; logFile: string },
  ]
  Object.assign(process.env, environment)
  return {
    ...description,
    pid: server.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      if (server.connected) server.disconnect()
      if (server.exitCode === null) await once(server, 'exit')
    },
  }
}
