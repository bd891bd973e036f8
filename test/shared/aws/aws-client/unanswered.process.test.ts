import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import { expect, it } from 'vitest'
import { awsClient } from '../../../../shared/aws/aws-client.ts'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { passingCause } from '../../../../shared/faults.ts'
import { serveHttp } from '../../../support/serve-http.ts'

it('a call that gets no answer in four attempts fails within the ten seconds that an endpoint may run', async () => {
  let attempts = 0
  const startedAt = performance.now()
  const error = await serveHttp(
    (request) => {
      attempts += 1
      request.resume()
    },
    (endpoint) =>
      awsClient(DynamoDBDocumentClient.from(new DynamoDBClient({ ...clientOptions(), endpoint })))
        .send(new PutCommand({ TableName: 'table', Item: { pk: 'a' } }))
        .catch((reason: unknown) => reason),
  )
  expect(passingCause(error)).toBe('timed_out')
  expect(attempts).toBe(4)
  expect(performance.now() - startedAt).toBeLessThan(9_500)
})
