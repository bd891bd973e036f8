import { randomUUID } from 'node:crypto'
import type { InvocationResult } from '../../../infra/local/runtime/runtime.ts'

/** Thrown out of a scenario at the first call that shows that something failed. */
export class Surfaced extends Error {
  override readonly name = 'Surfaced'
}

/** A request to an endpoint, as far as a scenario cares about it. */
export interface TestRequest {
  query?: Record<string, string>
  path?: Record<string, string>
  token?: string
  json?: object
  form?: Record<string, string>
  /** The status that the answer must have; 200 unless said otherwise. */
  expect?: number
}

/** How a scenario calls the function it is about. Each way throws Surfaced where the function says that it failed. */
export interface Calls {
  request: (request?: TestRequest) => Promise<void>
  /** Hands the function one event of the bus. */
  deliver: (detail: object) => Promise<void>
  /** Hands the function one message with a body of its own. */
  handOver: (body: object) => Promise<void>
  /** Runs the function with a payload. */
  run: (payload: object) => Promise<unknown>
}

/** What exercises every grant of a function at least once, with data of its own. */
export type Scenario = (calls: Calls) => Promise<void>

/** The calls of a scenario over whatever runs the function. */
export function makeCalls(invoke: (payload: string) => Promise<InvocationResult>): Calls {
  const run = async (payload: object): Promise<unknown> => {
    const result = await invoke(JSON.stringify(payload))
    if (result.functionError !== undefined) throw new Surfaced(result.payload)
    return JSON.parse(result.payload)
  }
  const handOver = async (body: object, messageAttributes = {}): Promise<void> => {
    const answer = (await run({
      Records: [
        {
          messageId: randomUUID(),
          receiptHandle: randomUUID(),
          body: JSON.stringify(body),
          attributes: { ApproximateReceiveCount: '1' },
          messageAttributes,
          eventSource: 'aws:sqs',
        },
      ],
    })) as { batchItemFailures: unknown[] }
    if (answer.batchItemFailures.length > 0) throw new Surfaced('the message is to come again')
  }
  return {
    run,
    handOver,
    deliver: (detail) => handOver({ id: randomUUID(), detail }),
    async request(request = {}) {
      const answer = (await run(toEvent(request))) as { statusCode: number; body?: string }
      if (answer.statusCode >= 500) throw new Surfaced(`answered ${answer.statusCode}`)
      const expected = request.expect ?? 200
      if (answer.statusCode !== expected)
        throw new Error(`answered ${answer.statusCode}, not ${expected}: ${answer.body ?? ''}`)
    },
  }
}

function toEvent({ query = {}, path, token, json, form }: TestRequest): object {
  const posts = json !== undefined || form !== undefined
  const method = posts ? 'POST' : 'GET'
  const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
  return {
    version: '2.0',
    routeKey: `${method} /test`,
    rawPath: '/test',
    rawQueryString: new URLSearchParams(query).toString(),
    headers: {
      ...(posts ? { 'content-type': type } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    requestContext: { requestId: randomUUID(), http: { method, path: '/test', sourceIp: '192.0.2.1' } },
    ...(path === undefined ? {} : { pathParameters: path }),
    ...(posts
      ? { body: form === undefined ? JSON.stringify(json) : new URLSearchParams(form).toString() }
      : {}),
    isBase64Encoded: false,
  }
}
