import { CreateQueueCommand } from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { functionModel, queueModel, stackModel, startStack } from './stack.ts'

const worker = functionModel('worker')
const signedBy = (accessKeyId: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/eu-central-1/kms/aws4_request, SignedHeaders=host, Signature=0`,
})

test('the AWS endpoint rejects an unsigned request, which any web page could send', async () => {
  const { endpoint } = await startStack(stackModel())
  const answer = await fetch(endpoint.url, {
    method: 'POST',
    headers: { 'x-amz-target': 'TrentService.ListKeys' },
    body: '{}',
  })
  expect(answer.status).toBe(403)
  expect(answer.headers.get('x-amzn-errortype')).toBe('MissingAuthenticationTokenException')
})

test.each<[string, RequestInit, string]>([
  ['/', { headers: { 'x-amz-target': 'TrentService.ReEncrypt' } }, 'UnknownOperationException'],
  ['/', { headers: { 'x-amz-target': 'Logs_20140328.PutLogEvents' } }, 'UnknownOperationException'],
  ['/', { headers: { 'x-amz-target': 'TrentService.ListKeys' }, body: '{' }, 'SerializationException'],
  ['/v2/email/identities', {}, 'UnknownOperationException'],
  ['/2015-03-31/functions/worker/invocations', { method: 'PUT' }, 'UnknownOperationException'],
])('the AWS endpoint rejects a request for %s with %j as %s', async (path, init, name) => {
  const { endpoint } = await startStack(stackModel({ functions: [worker] }))
  const headers = { ...signedBy('anybody'), ...(init.headers as Record<string, string> | undefined) }
  const answer = await fetch(endpoint.url + path, { method: 'POST', body: '{}', ...init, headers })
  expect(answer.headers.get('x-amzn-errortype')).toBe(name)
})

test('an SQS operation that is not emulated fails with UnknownOperationException', async () => {
  const { sqs } = await startStack(stackModel({ queues: [queueModel('work')] }))
  await expect(sqs.send(new CreateQueueCommand({ QueueName: 'x' }))).rejects.toMatchObject({
    name: 'UnknownOperationException',
  })
})

test('the AWS endpoint does not start on a port that is in use', async () => {
  const { endpoint } = await startStack(stackModel())
  const { startAwsEndpoint } = await import('../../../../infra/local/aws/server.ts')
  const starting = startAwsEndpoint({
    port: Number(new URL(endpoint.url).port),
    model: stackModel(),
    dynamodbEndpoint: 'http://127.0.0.1:1',
    dataDirectory: undefined,
    invoke: async (_name, payload) => ({ payload }),
  })
  await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
