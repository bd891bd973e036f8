import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

interface Answer {
  status: number
  type: string
  body: Buffer
}

const latency = 5

/**
 * Starts a TLS proxy in front of `awsUrl`. It forwards each new call, and answers a repeated call from
 * memory. Every answer takes at least 5 ms. Needs `openssl` to make the proxy's certificate.
 */
export async function startRepeatingProxy(awsUrl: string) {
  const known = new Map<string, Promise<Answer>>()
  const pass = async (
    body: Buffer,
    { url = '/', method = 'POST', headers }: IncomingMessage,
  ): Promise<Answer> => {
    const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      ['connection', 'host', 'content-length'].includes(name) ? [] : [[name, String(value)]],
    )
    const answer = await fetch(new URL(url, awsUrl), { method, headers: sent, body: new Uint8Array(body) })
    const type = answer.headers.get('content-type') ?? ''
    return { status: answer.status, type, body: Buffer.from(await answer.arrayBuffer()) }
  }
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const arrived = performance.now()
    const body = await buffer(message)
    // Ignores string values when it looks for a known call, because each warm-up has a new random token.
    const shape = body.toString().replaceAll(/:"[^"]*"/g, ':""')
    const key = `${String(message.headers['x-amz-target'])} ${shape}`
    const found = known.get(key) ?? pass(body, message)
    known.set(key, found)
    const { status, type, body: bytes } = await found
    const send = () => response.writeHead(status, { 'content-type': type }).end(bytes)
    setTimeout(send, Math.max(0, latency - (performance.now() - arrived)))
  }
  const directory = mkdtempSync(join(tmpdir(), 'bench-tls-'))
  const certificate = join(directory, 'certificate.pem')
  const server = createServer(makeCertificate(directory, certificate), (message, response) => {
    void answer(message, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Environment variables that make a process trust the certificate of this server. */
    environment: { NODE_EXTRA_CA_CERTS: certificate },
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      rmSync(directory, { recursive: true })
    },
  }
}

function makeCertificate(directory: string, certificate: string) {
  const key = join(directory, 'key.pem')
  const wanted = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench'
  const files = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', ...wanted.split(' '), ...files], { stdio: 'ignore' })
  return { key: readFileSync(key), cert: readFileSync(certificate) }
}
