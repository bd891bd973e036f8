import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Context } from 'aws-lambda'
import type { RequestListener } from 'node:http'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { awsClient } from '../../../shared/aws/aws-client.ts'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { publicEndpoint } from '../../../shared/http/endpoint.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { getEvent } from '../../support/call-endpoint.ts'
import { serveHttp } from '../../support/serve-http.ts'

const writes = (endpoint: string) => {
  const client = awsClient(DynamoDBDocumentClient.from(new DynamoDBClient({ ...clientOptions(), endpoint })))
  return () => client.send(new PutCommand({ TableName: 'table', Item: { pk: 'a' } }))
}

/** Calls an endpoint that does `work`. The endpoint has the given milliseconds until Lambda's timeout. */
async function answerOf(work: () => Promise<unknown>, remainingMilliseconds: number) {
  const handler = publicEndpoint({
    input: v.object({}),
    output: v.null(),
    async run() {
      await work()
      return null
    },
  })
  const context = { getRemainingTimeInMillis: () => remainingMilliseconds } as Context
  const startedAt = performance.now()
  const { statusCode, headers, body = '' } = await handler(getEvent('/test'), context)
  const tookMilliseconds = performance.now() - startedAt
  return { statusCode, headers, body: JSON.parse(body) as unknown, tookMilliseconds }
}

const unavailable = {
  statusCode: 503,
  headers: { 'retry-after': '1', 'content-type': 'application/json', 'x-request-id': 'request' },
  body: { code: 50300, msg: 'temporarily unavailable, try again', data: null },
}

const hang: RequestListener = (request) => void request.resume()

it.each([
  ['AWS does not answer', hang],
  [
    'AWS throttles',
    (request, response) => {
      request.resume()
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
      response.end('{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}')
    },
  ],
] satisfies [string, RequestListener][])(
  'when %s, an endpoint answers 503 in time and does not count the failure as a fault of the service',
  async (_what, listener) => {
    const metrics = await emittedMetrics(() =>
      serveHttp(listener, async (url) => {
        const answer = await answerOf(writes(url), 1_900)
        expect(answer).toMatchObject(unavailable)
        expect(answer.tookMilliseconds).toBeLessThan(1_900)
      }),
    )
    const names = metrics.map(({ name }) => name)
    expect(names).toContain('Unavailable')
    expect(names).not.toContain('Faults')
  },
)

it('an endpoint whose own code is too slow still answers 503 in time, as a fault', async () => {
  const metrics = await emittedMetrics(async () => {
    const answer = await answerOf(() => new Promise(() => undefined), 700)
    expect(answer).toMatchObject(unavailable)
    expect(answer.tookMilliseconds).toBeLessThan(700)
  })
  expect(metrics.map(({ name }) => name)).toContain('Faults')
})
