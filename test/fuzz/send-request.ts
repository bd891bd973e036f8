import { Agent, request as openRequest } from 'node:http'
import { oneTimeValues } from './actors.ts'
import type { ReceivedAnswer } from './check-answer.ts'
import type { FuzzedRequest } from './draft.ts'

const agent = new Agent({ keepAlive: true })

/** Replaces the placeholders of a request by new one-time values. */
export async function fillIn(request: FuzzedRequest): Promise<FuzzedRequest> {
  const { target, headers, body } = request
  const text = `${target} ${headers.flat().join(' ')} ${body?.toString('latin1') ?? ''}`
  const wanted = oneTimeValues.filter(([placeholder]) => placeholder.test(text))
  if (wanted.length === 0) return request
  const values = (await Promise.all(wanted.map(([, make]) => make()))).reduce((all, some) => ({
    ...all,
    ...some,
  }))
  const fill = (part: string) => part.replaceAll(/ZZ\w+?ZZ/g, (name) => values[name] ?? name)
  return {
    ...request,
    target: fill(target),
    headers: headers.map(([name, value]) => [name, fill(value)]),
    body: body && Buffer.from(fill(body.toString('latin1')), 'latin1'),
  }
}

/**
 * Sends a request, and resolves with its answer. Sign-ins come from an address of their own, as far as this
 * machine has several for loopback: the service limits the wrong passwords of one source.
 */
export function send(baseUrl: string, request: FuzzedRequest, number: number): Promise<ReceivedAnswer> {
  const { method, target, headers, body } = request
  const isSignIn = target.startsWith('/user/login') && process.platform === 'linux'
  const { hostname, port } = new URL(baseUrl)
  const localAddress = `127.${1 + (number % 200)}.${1 + (Math.floor(number / 200) % 200)}.7`
  return new Promise((resolve, reject) => {
    const sent = openRequest({
      hostname,
      port,
      method,
      path: target,
      agent: isSignIn ? false : agent,
      ...(isSignIn && { localAddress }),
      headers: [
        'host',
        `${hostname}:${port}`,
        ...headers.flat(),
        'content-length',
        String(body?.length ?? 0),
      ],
    })
    sent.once('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle connection in the instant in which the request was sent on it.
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(send(baseUrl, request, number))
      else reject(error)
    })
    sent.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(
            Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
          ),
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.end(body)
  })
}
