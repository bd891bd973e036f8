import { expect, test } from 'vitest'
import { functionModel, stackModel, startStack } from './stack.ts'

const worker = functionModel('worker')
const signedBy = (accessKeyId: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/eu-central-1/kms/aws4_request, SignedHeaders=host, Signature=0`,
})

test('the AWS endpoint rejects an unsigned request, because any web page could send it', async () => {
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
  ['/', { headers: { 'x-amz-target': 'AmazonSQS.PurgeQueue' } }, 'UnknownOperationException'],
  ['/', { headers: { 'x-amz-target': 'Logs_20140328.PutLogEvents' } }, 'UnknownOperationException'],
  ['/', { headers: { 'x-amz-target': 'TrentService.ListKeys' }, body: '{' }, 'SerializationException'],
  ['/v2/email/identities', {}, 'UnknownOperationException'],
  ['/2015-03-31/functions/worker/invocations', { method: 'PUT' }, 'UnknownOperationException'],
  ['/2015-03-31/functions/%/invocations', {}, 'MalformedHttpRequestException'],
  ['/v2/email/%C0', {}, 'MalformedHttpRequestException'],
])('an AWS request to the path %s with %j is rejected with %s', async (path, init, name) => {
  const { endpoint } = await startStack(stackModel({ functions: [worker] }))
  const headers = { ...signedBy('anybody'), ...(init.headers as Record<string, string> | undefined) }
  const answer = await fetch(endpoint.url + path, { method: 'POST', body: '{}', ...init, headers })
  expect(answer.headers.get('x-amzn-errortype')).toBe(name)
})
