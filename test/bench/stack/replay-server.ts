import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { RecordedAnswer } from './recorder.ts'

/** Time after which each call is answered, in milliseconds. */
const latency = 5

/**
 * Finds the answer to repeat: that of the same request, or else the next one to the same operation, because
 * writes hold times that differ from run to run.
 */
export function replay(
  answers: readonly RecordedAnswer[],
): (target: string, request: string) => RecordedAnswer {
  const exact = new Map(answers.map((answer) => [answer.target + answer.request, answer]))
  const byTarget = Map.groupBy(answers, ({ target }) => target)
  const turns = new Map<string, number>()
  return (target, request) => {
    const known = exact.get(target + request)
    if (known !== undefined) return known
    const others = byTarget.get(target) ?? answers
    const turn = turns.get(target) ?? 0
    turns.set(target, turn + 1)
    const next = others[turn % others.length]
    if (next === undefined) throw new Error('there is nothing to repeat')
    return next
  }
}

/**
 * Serves recorded answers in place of AWS, each after 5 ms: over TLS as AWS does if `openssl` can make a
 * certificate, which the environment then trusts.
 */
export async function startReplayServer() {
  let find = replay([])
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const arrived = performance.now()
    const target = String(message.headers['x-amz-target'] ?? `${message.method ?? ''} ${message.url ?? ''}`)
    const { status, contentType, body } = find(target, (await buffer(message)).toString())
    const send = () => response.writeHead(status, { 'content-type': contentType }).end(body)
    setTimeout(send, Math.max(0, latency - (performance.now() - arrived)))
  }
  const handle = (message: IncomingMessage, response: ServerResponse) => void answer(message, response)
  const directory = mkdtempSync(join(tmpdir(), 'bench-tls-'))
  const certificate = makeCertificate(directory)
  const server =
    certificate === undefined ? createHttpServer(handle) : createHttpsServer(certificate.options, handle)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    /** Variables with which a process trusts the server. */
    environment: certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificate.file },
    /** Repeats other answers from now on. */
    use: (answers: readonly RecordedAnswer[]) => void (find = replay(answers)),
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      rmSync(directory, { recursive: true })
    },
  }
}

export type ReplayServer = Awaited<ReturnType<typeof startReplayServer>>

function makeCertificate(directory: string) {
  const [key, file] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')]
  const wanted = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench'
  try {
    execFileSync(
      'openssl',
      ['req', ...wanted.split(' '), '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', file],
      { stdio: 'ignore' },
    )
  } catch {
    // Without openssl the calls are plain HTTP, which the output says.
    return undefined
  }
  return { file, options: { key: readFileSync(key), cert: readFileSync(file) } }
}
