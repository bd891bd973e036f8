import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts an HTTP server on a free port of this machine. Returns its URL and a function that stops it. */
export async function listen(listener: RequestListener) {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** Serves HTTP on a free port of this machine while `use` runs. Passes the server's URL to `use`. */
export async function serveHttp<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const { url, close } = await listen(listener)
  return use(url).finally(close)
}
