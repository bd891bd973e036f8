import { createServer, request as startRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { startDynamodb } from '../../../../infra/local/dynamodb/start-dynamodb.ts'

/** Answers a request in place of DynamoDB, or lets it pass when the promise resolves with nothing. */
type Intervene = (operation: string) => Promise<object | undefined>

/**
 * Starts DynamoDB Local behind a relay that refuses requests or holds them back, as DynamoDB Local itself
 * never does: it has no throughput, and runs transactions one after another.
 */
export async function startRelay() {
  const database = await startDynamodb(undefined)
  const target = new URL(database.endpoint)
  let about = ''
  let release: () => void = () => undefined
  let intervene: Intervene = async () => undefined
  const relay = async (message: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(message)
    const operation = String(message.headers['x-amz-target']).split('.')[1] ?? ''
    const refusal = body.includes(about) ? await intervene(operation) : undefined
    if (refusal !== undefined)
      return response
        .writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
        .end(JSON.stringify(refusal))
    const { method, headers } = message
    const passed = startRequest({ host: target.hostname, port: target.port, path: '/', method, headers })
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    return passed.end(body)
  }
  const server = createServer((message, response) => void relay(message, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://${target.username}@127.0.0.1:${port}`,
    /** Refuses every request that contains this text, with DynamoDB's error. */
    refuse: (text: string, error: object): void => {
      about = text
      intervene = async () => error
    },
    /** Holds back every request that contains this text; `arrived` resolves with the first of them. */
    hold: (text: string): Promise<void> => {
      const arrived = Promise.withResolvers<undefined>()
      const released = Promise.withResolvers<undefined>()
      about = text
      intervene = async () => {
        arrived.resolve(undefined)
        return released.promise
      }
      release = () => released.resolve(undefined)
      return arrived.promise
    },
    /** Lets all requests pass, and those that are held back. */
    recover: (): void => {
      intervene = async () => undefined
      release()
    },
    close: async (): Promise<void> => {
      server.close()
      server.closeAllConnections()
      await database.close()
    },
  }
}

export type Relay = Awaited<ReturnType<typeof startRelay>>
