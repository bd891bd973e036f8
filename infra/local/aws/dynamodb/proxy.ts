import { Agent, request as startRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'

/** Passes requests on to DynamoDB Local. */
export interface DynamodbProxy {
  pass(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void>
  close(): void
}

// What belongs to the connection with DynamoDB Local and not to the client's (RFC 9110 section 7.6.1).
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/**
 * Opens connections to `endpoint` that are kept for the next request; requests and answers
 * pass unchanged but for the access key: any will do here, while DynamoDB Local refuses those with more than letters and digits.
 */
export function openDynamodbProxy(endpoint: string): DynamodbProxy {
  const target = new URL(endpoint)
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo' })
  return {
    async pass(request, body, response) {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const passed = startRequest({
          agent,
          host: target.hostname,
          port: target.port,
          method: request.method,
          path: request.url,
          headers: {
            ...request.headers,
            host: target.host,
            connection: 'keep-alive',
            'content-length': body.length,
            authorization: request.headers.authorization?.replace(/Credential=[^/]+/, 'Credential=local'),
          },
        })
        passed.on('response', resolve).on('error', reject).end(body)
      })
      const headers = Object.entries(answer.headers).filter(([name]) => !hopByHop.has(name))
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers))
      await pipeline(answer, response)
    },
    close: () => agent.destroy(),
  }
}
