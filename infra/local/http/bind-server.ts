import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartupError } from '../startup-error.ts'

/** Answers one request; a rejection becomes a plain 500. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** A server that holds its port from the start and answers 503 until it is told what to serve. */
export interface BoundServer {
  port: number
  /** Without a trailing slash. */
  url: string
  serve: (handler: RequestHandler) => void
  /** Takes no new connection, lets what runs finish for so long (2 s unless told), then ends everything. */
  close: (graceMilliseconds?: number) => Promise<void>
}

/** The one address that the local stack listens on: nothing of it is for other machines. */
export const loopback = '127.0.0.1'

/** Takes a port (0 for any free one); `option` is how the command line spells it. Throws a `StartupError` when it is taken. */
export async function bindServer(port: number, option: string): Promise<BoundServer> {
  let handler: RequestHandler = (_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
    response.end('{"message":"Service Unavailable"}')
  }
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    Promise.resolve()
      .then(() => handler(request, response))
      .catch((error: unknown) => {
        console.error(error)
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' })
        response.end('{"message":"Internal Server Error"}')
      })
  })
  await listen(server, port, option)
  const taken = (server.address() as AddressInfo).port
  return {
    port: taken,
    url: `http://${loopback}:${taken}`,
    serve: (next) => void (handler = next),
    close: (graceMilliseconds = 2000) =>
      new Promise((resolve) => {
        const limit = setTimeout(() => server.closeAllConnections(), graceMilliseconds)
        server.close(() => {
          clearTimeout(limit)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** A port that is free now. Somebody else may take it before it is used: prefer `bindServer`. */
export async function findFreePort(): Promise<number> {
  const server = await bindServer(0, '')
  await server.close()
  return server.port
}

const listen = (server: Server, port: number, option: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        reject(
          new StartupError(`port ${port} is taken: stop what uses it, or choose another with ${option} PORT`),
        )
      else if (error.code === 'EACCES')
        reject(new StartupError(`port ${port} needs more rights: choose another with ${option} PORT`))
      else reject(error)
    })
    server.listen(port, loopback, resolve)
  })
