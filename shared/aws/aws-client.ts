import type { Agent } from 'node:http'
import { callWithinInvocation } from '../invocation.ts'

/** The parts of an AWS client that awsClient uses; the SDK's own types differ by service. */
interface Client {
  config: { requestHandler: { httpHandlerConfigs: () => { httpAgent?: Agent; httpsAgent?: Agent } } }
  middlewareStack: {
    add: (middleware: Middleware, options: object) => void
    remove: (name: string) => boolean
  }
  send: (command: unknown, options?: { abortSignal?: AbortSignal }) => Promise<unknown>
}
type Middleware = (next: (args: unknown) => Promise<unknown>) => (args: unknown) => Promise<unknown>

/**
 * Prepares an AWS client for a function, and returns it. Each call ends at the invocation's deadline at the
 * latest. A call is repeated on a new connection if its connection died while the process was frozen.
 */
export function awsClient<C extends object>(client: C): C {
  const { config, middlewareStack } = client as Client
  // Functions do not log AWS calls, so the SDK's logger is not needed.
  middlewareStack.remove('loggerMiddleware')
  middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        if (isBroken(error)) closeIdleConnections(config)
        throw error
      }
    },
    { step: 'finalizeRequest', priority: 'low', name: 'closeIdleConnections' },
  )
  const send: Client['send'] = (command, options = {}) =>
    callWithinInvocation((deadline) => {
      const signals = [deadline, options.abortSignal].filter((signal) => signal !== undefined)
      const { send: perform } = Object.getPrototypeOf(client) as Client
      return perform.call(client, command, { ...options, abortSignal: AbortSignal.any(signals) })
    })
  return Object.assign(client, { send })
}

const isBroken = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '')

/**
 * Closes all idle connections. If one is dead, the others are probably dead, too, because they are just as
 * old. Dead connections would use up the SDK's attempts (aws-sdk-js-v3 issue 3905).
 */
function closeIdleConnections({ requestHandler }: Client['config']): void {
  const { httpAgent, httpsAgent } = requestHandler.httpHandlerConfigs()
  for (const agent of [httpAgent, httpsAgent])
    for (const socket of Object.values(agent?.freeSockets ?? {}).flat()) socket?.destroy()
}
