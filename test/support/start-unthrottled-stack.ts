import { join } from 'node:path'
import { startSharedServer } from './start-shared-server.ts'

/** A local stack in a process of its own. */
interface UnthrottledStack extends AsyncDisposable {
  baseUrl: string
  /** File with the lines that the functions log. Older lines are in a file with the suffix `.previous`. */
  logFile: string
  pid: number
}

/**
 * Starts a local stack with demo data and very high API throttles, and sets the environment of this process.
 * Import modules of shared/ afterwards, because they read the environment when they load.
 */
export async function startUnthrottledStack(dataDirectory?: string): Promise<UnthrottledStack> {
  const script = join(import.meta.dirname, 'serve-stack.ts')
  const server = await startSharedServer({
    script,
    environment: { STACK_UNTHROTTLED: 'true', STACK_DATA: dataDirectory },
  })
  const described = await server.described
  if (described === undefined) throw new Error('the local stack did not start')
  const { environment, ...description } = described as UnthrottledStack & { environment: object }
  Object.assign(process.env, environment)
  return { ...description, [Symbol.asyncDispose]: server.stop }
}
