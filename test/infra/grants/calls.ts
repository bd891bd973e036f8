import { randomUUID } from 'node:crypto'
import type { InvocationResult } from '../../../infra/local/runtime/function-worker.ts'
import { toEvent } from '../../support/call-endpoint.ts'
import { toSqsEvent } from '../../support/sqs-event.ts'

/** The function under test failed: it threw an error, answered 5xx, or asked for the retry of a message. */
export class FailedCall extends Error {
  override readonly name = 'FailedCall'
}

/** A request to the endpoint under test. */
export interface TestRequest {
  query?: Record<string, string>
  path?: Record<string, string>
  token?: string
  json?: object
  form?: Record<string, string>
  /** Expected HTTP status. Default: 200. */
  expect?: number
}

/** The ways to call the function under test. Each throws a FailedCall if the function fails. */
export interface Calls {
  request: (request?: TestRequest) => Promise<void>
  /** Delivers one event to the function, as the bus does through the function's queue, from nobody. */
  deliver: (detail: object) => Promise<void>
  deliverMessage: (body: object) => Promise<void>
  run: (payload: object) => Promise<unknown>
}

/** Calls a function so that it uses each of its IAM grants at least once. Creates its own test data. */
export type Scenario = (calls: Calls) => Promise<unknown>

/** Creates `Calls` for the function that `invoke` runs. */
export function makeCalls(invoke: (payload: string) => Promise<InvocationResult>): Calls {
  const run = async (payload: object): Promise<unknown> => {
    const result = await invoke(JSON.stringify(payload))
    if (result.functionError !== undefined) throw new FailedCall(result.payload)
    return JSON.parse(result.payload)
  }
  // Delivers for the last time, so that an event that lacks something is refused.
  const deliverMessage = async (body: object): Promise<void> => {
    const message = { body: JSON.stringify(body), firstReceivedAt: Date.now() - 60_000 }
    const answer = (await run(toSqsEvent([message]))) as {
      batchItemFailures: unknown[]
    }
    if (answer.batchItemFailures.length > 0) throw new FailedCall('the message must be retried')
  }
  return {
    run,
    deliverMessage,
    deliver: (detail) => deliverMessage({ id: randomUUID(), detail }),
    async request(request = {}) {
      const answer = (await run(toRequest(request))) as { statusCode: number; body?: string }
      if (answer.statusCode >= 500) throw new FailedCall(`answered ${answer.statusCode}`)
      const expected = request.expect ?? 200
      if (answer.statusCode !== expected)
        throw new Error(`answered ${answer.statusCode}, not ${expected}: ${answer.body ?? ''}`)
    },
  }
}

const toRequest = ({ query = {}, path, token, json, form }: TestRequest): object =>
  toEvent({
    query: new URLSearchParams(query).toString(),
    ...(path && { path }),
    headers: {
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(form ? { text: new URLSearchParams(form).toString() } : { body: json }),
  })
