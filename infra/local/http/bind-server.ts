import { randomInt } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartupError } from '../startup-error.ts'

/** Handles one HTTP request. If the promise rejects, the client gets a plain 500. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** An HTTP server that listens at once, and answers 503 until it gets a handler. */
export interface BoundServer {
  port: number
  /** URL of the server, without a trailing slash. */
  url: string
  /** Passes requests to `handler`. Closes idle connections after `keepAliveMilliseconds` (default: 65 s). */
  serve: (handler: RequestHandler, keepAliveMilliseconds?: number) => void
  /**
   * Stops accepting connections, waits up to `graceMilliseconds` (default: 2 s) for running requests, then
   * closes their connections.
   */
  close: (graceMilliseconds?: number) => Promise<void>
}

/** The only address on which the local stack listens, so other machines cannot reach it. */
const loopback = '127.0.0.1'

/** `content-type` of a file by its extension. */
export const contentTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/**
 * Listens on a port; 0 chooses any free one. Throws a `StartupError` that names the command-line option. With
 * `publicHost`, the server also answers requests for that host name, which a proxy passes on.
 */
export async function bindServer(port: number, option: string, publicHost?: string): Promise<BoundServer> {
  let handler: RequestHandler = (_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
    response.end('{"message":"Service Unavailable"}')
  }
  const server = createServer((request, response) => {
    Promise.resolve()
      .then(() => {
        if (refuseForeignHost(request, response, publicHost) || refuseUnreadable(request, response)) return
        return handler(request, response)
      })
      .catch((error: unknown) => {
        // Ignore an error after the client has disconnected: no answer can reach the client any more.
        if (response.destroyed) return
        console.error(error)
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' })
        response.end('{"message":"Internal Server Error"}')
      })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainPortError(error, port, option)))
    server.listen(port, loopback, resolve)
  })
  const taken = (server.address() as AddressInfo).port
  return {
    port: taken,
    url: `http://${loopback}:${taken}`,
    serve(next, keepAliveMilliseconds = 65_000) {
      handler = next
      server.keepAliveTimeout = keepAliveMilliseconds
    },
    close: (graceMilliseconds = 2000) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), graceMilliseconds)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/**
 * Finds a free port between 20000 and 29999 for a server that starts later. Linux, macOS and Windows assign
 * ports only from 32768 on, so no other program gets this port meanwhile.
 */
export async function findFreePort(): Promise<number> {
  const port = randomInt(20_000, 30_000)
  try {
    await (await bindServer(port, '')).close()
    return port
  } catch (error) {
    if (error instanceof StartupError) return findFreePort()
    throw error
  }
}

/** Turns an error from listening on a port into a `StartupError` if a person can fix the cause. */
function explainPortError(error: Error, port: number, option: string): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new StartupError(`port ${port} is taken: stop what uses it, or choose another with ${option} PORT`)
  if (code === 'EACCES')
    return new StartupError(`port ${port} needs more rights: choose another with ${option} PORT`)
  return error
}

/**
 * Reads the URL of a request; its host means nothing. The URL parser has resolved every `..` segment. A path
 * that begins with two slashes would be read as a host.
 */
export const readUrl = ({ url = '/' }: IncomingMessage): URL =>
  new URL(url.replace(/^\/+/, '/'), 'http://local')

/** Answers 400, and returns true, if a request's target cannot be read. Only a whole URL can be so. */
function refuseUnreadable(request: IncomingMessage, response: ServerResponse): boolean {
  const { url = '/' } = request
  if (url.startsWith('/') || URL.canParse(url, 'http://local')) return false
  response.writeHead(400, { 'content-type': 'application/json' }).end('{"message":"Bad Request"}')
  return true
}

/** Names of this machine (RFC 6761 §6.3). Any port is accepted, because a client may use a forwarded port. */
const localHosts = /^(127(\.\d{1,3}){3}|([\w-]+\.)*localhost|\[::1\])(:\d{1,5})?$/i

/**
 * If a request names another host than this machine, answers 403, as API Gateway does, and returns true.
 * This prevents DNS rebinding: a web page would reach this machine under the attacker's host name, and the
 * developer's browser would let the page read the answers.
 */
function refuseForeignHost(
  { headers: { host = '' } }: IncomingMessage,
  response: ServerResponse,
  publicHost: string | undefined,
): boolean {
  if (localHosts.test(host) || host.replace(/:\d{1,5}$/, '').toLowerCase() === publicHost) return false
  response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}')
  return true
}
