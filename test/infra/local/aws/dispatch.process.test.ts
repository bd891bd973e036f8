import { CreateQueueCommand } from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { accountId, functionModel, queueModel, stackModel, startStack } from './stack.ts'

const worker = functionModel('worker')
const signedBy = (accessKeyId: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/eu-central-1/sts/aws4_request, SignedHeaders=host, Signature=0`,
})

/** Calls STS in its query protocol and returns one member of the XML answer. */
async function askSts(url: string, accessKeyId: string, query: Record<string, string>, member: string) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...signedBy(accessKeyId), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ Version: '2011-06-15', ...query }).toString(),
  })
  return new RegExp(`<${member}>(.*)</${member}>`).exec(await answer.text())?.[1]
}

test('STS GetCallerIdentity returns the function that signed the request, otherwise the account’s owner', async () => {
  const { endpoint } = await startStack(stackModel({ functions: [worker] }))
  const ask = (accessKeyId: string) =>
    askSts(endpoint.url, accessKeyId, { Action: 'GetCallerIdentity' }, 'Arn')
  expect(await ask('anybody')).toBe(`arn:aws:iam::${accountId}:root`)
  expect(await ask(endpoint.credentialsFor(worker).accessKeyId)).toBe(
    `arn:aws:sts::${accountId}:assumed-role/worker-role/worker`,
  )
})

test('only the account’s owner may call STS AssumeRole, and only for a role in the template', async () => {
  const role = { name: 'reader', arn: `arn:aws:iam::${accountId}:role/reader`, tags: {}, policies: [] }
  const { endpoint } = await startStack(stackModel({ functions: [worker], roles: [role] }))
  const assume = (accessKeyId: string, RoleArn: string) =>
    askSts(endpoint.url, accessKeyId, { Action: 'AssumeRole', RoleArn }, 'AccessKeyId')
  const key = (await assume('anybody', role.arn)) ?? expect.unreachable()
  expect(await askSts(endpoint.url, key, { Action: 'GetCallerIdentity' }, 'Arn')).toContain(
    'assumed-role/reader/',
  )
  expect(await assume('anybody', `${role.arn}s`)).toBeUndefined()
  expect(await assume('anybody', worker.arn)).toBeUndefined()
  expect(await assume(endpoint.credentialsFor(worker).accessKeyId, role.arn)).toBeUndefined()
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
