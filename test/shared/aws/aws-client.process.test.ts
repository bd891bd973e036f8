import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { GenerateMacCommand, KMSClient } from '@aws-sdk/client-kms'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { awsClient } from '../../../shared/aws/aws-client.ts'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { isFault, passingCause } from '../../../shared/faults.ts'
import { OutOfTime, runInvocation } from '../../../shared/invocation.ts'
import { serveHttp } from '../../support/serve-http.ts'

const table = (endpoint: string) =>
  awsClient(DynamoDBDocumentClient.from(new DynamoDBClient({ ...clientOptions(), endpoint })))

/** Sample calls by every AWS client that the functions use. The clients are created as in the functions. */
const calls = {
  'a write to DynamoDB': (endpoint: string) =>
    table(endpoint).send(new PutCommand({ TableName: 'table', Item: { pk: 'a' } })),
  'a transaction of DynamoDB': (endpoint: string) => {
    const Put = { TableName: 'table', Item: { pk: 'a' } }
    return table(endpoint).send(new TransactWriteCommand({ TransactItems: [{ Put }] }))
  },
  'a call of KMS': (endpoint: string) =>
    awsClient(new KMSClient({ ...clientOptions(), endpoint })).send(generateMac()),
  'a message to SQS': (endpoint: string) =>
    awsClient(new SQSClient({ ...clientOptions(), endpoint })).send(
      new SendMessageCommand({ QueueUrl: `${endpoint}/1/queue`, MessageBody: 'a' }),
    ),
  'a mail by SES': (endpoint: string) =>
    awsClient(new SESv2Client({ ...clientOptions(), endpoint })).send(
      new SendEmailCommand({ Destination: { ToAddresses: ['a@example.com'] }, Content: {} }),
    ),
  'an event to EventBridge': (endpoint: string) =>
    awsClient(new EventBridgeClient({ ...clientOptions(), endpoint })).send(
      new PutEventsCommand({ Entries: [{ Detail: '{}' }] }),
    ),
}
type Call = keyof typeof calls
const allCalls = Object.keys(calls) as Call[]

const generateMac = () =>
  new GenerateMacCommand({ KeyId: 'key', MacAlgorithm: 'HMAC_SHA_256', Message: new Uint8Array(1) })

/** Answers every request with an AWS error that the clients of all services can read. */
const refuse =
  (code: string, status = 400): RequestListener =>
  (request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-errortype': code })
    response.end(JSON.stringify({ __type: `com.amazonaws.service#${code}`, message: 'no' }))
  }

const failureOf = (call: Call, listener: RequestListener): Promise<unknown> =>
  serveHttp(listener, (url) => calls[call](url).catch((error: unknown) => error))

describe('a temporary error of AWS', () => {
  const cases: [call: Call, code: string, status: number, cause: string][] = [
    ['a write to DynamoDB', 'ThrottlingException', 400, 'throttled'],
    ['a write to DynamoDB', 'RequestLimitExceeded', 400, 'throttled'],
    ['a write to DynamoDB', 'InternalServerError', 500, 'outage'],
    ['a write to DynamoDB', 'TransactionConflictException', 400, 'contention'],
    ['a transaction of DynamoDB', 'TransactionInProgressException', 400, 'contention'],
    ['a call of KMS', 'LimitExceededException', 400, 'throttled'],
    ['a call of KMS', 'KMSInternalException', 500, 'outage'],
    ['a call of KMS', 'DependencyTimeoutException', 503, 'outage'],
    ['a call of KMS', 'KeyUnavailableException', 500, 'outage'],
    ['a message to SQS', 'RequestThrottled', 403, 'throttled'],
    ['a message to SQS', 'KmsThrottled', 400, 'throttled'],
    ['a message to SQS', 'ServiceUnavailable', 503, 'outage'],
    ['a mail by SES', 'TooManyRequestsException', 429, 'throttled'],
    ['a mail by SES', 'SendingPausedException', 400, 'outage'],
    ['an event to EventBridge', 'ThrottlingException', 400, 'throttled'],
    ['an event to EventBridge', 'InternalException', 500, 'outage'],
  ]
  it.concurrent.each(cases)(
    '%s that fails with %s (%i) is a temporary failure, not a fault of the service',
    async (call, code, status, cause) => {
      const error = await failureOf(call, refuse(code, status))
      expect(passingCause(error)).toBe(cause)
      expect(isFault(error)).toBe(false)
    },
  )

  it.concurrent.each(allCalls)('if a proxy answers %s with HTML, the failure is temporary', async (call) => {
    const error = await failureOf(call, (request, response) => {
      request.resume()
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>')
    })
    expect(passingCause(error)).toBe('outage')
  })

  it.concurrent.each(allCalls)('if the connection of %s breaks, the failure is temporary', async (call) => {
    const error = await failureOf(call, (request) => request.socket.resetAndDestroy())
    expect(passingCause(error)).toBe('unreachable')
  })

  it.concurrent.each(allCalls)('%s to a port where nobody listens is a temporary failure', async (call) => {
    const error = await calls[call]('http://127.0.0.1:1').catch((reason: unknown) => reason)
    expect(passingCause(error)).toBe('unreachable')
  })
})

it.concurrent.each(allCalls)('a missing permission for %s is a fault of the service', async (call) => {
  const error = await failureOf(call, refuse('AccessDeniedException'))
  expect(error).toMatchObject({ name: 'AccessDeniedException' })
  expect(isFault(error)).toBe(true)
})

const hang: RequestListener = (request) => void request.resume()

// Not concurrent, because other tests could delay the call past its deadline.
it('an unanswered call to any AWS service ends at the deadline of the invocation', async () => {
  const startedAt = performance.now()
  const context = { getRemainingTimeInMillis: () => 1_900 }
  const results = allCalls.map((call) => runInvocation(context, 500, () => failureOf(call, hang)))
  expect(await Promise.all(results)).toEqual(allCalls.map(() => new OutOfTime(true)))
  expect(performance.now() - startedAt).toBeLessThan(1_900)
})

it('a throttled call ends at the deadline, even between two attempts', async () => {
  const startedAt = performance.now()
  const context = { getRemainingTimeInMillis: () => 600 }
  const throttle = refuse('ThrottlingException')
  const results = await runInvocation(context, 500, () =>
    Promise.all(Array.from({ length: 8 }, () => failureOf('a call of KMS', throttle))),
  )
  expect(results).toContainEqual(new OutOfTime(true))
  expect(performance.now() - startedAt).toBeLessThan(600)
})

/**
 * The server has its own thread, because the test freezes the main thread. After the message `age`, it treats
 * its connections as old: it resets them when the client uses them, as if a NAT device had forgotten them.
 */
const forgetfulServer = `
  const { createServer } = require('node:http')
  const { parentPort, workerData } = require('node:worker_threads')
  const thawed = new Int32Array(workerData)
  const connections = new Set()
  let generation = 0
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    request.resume()
    setTimeout(() => response.end('{"Mac":"AAAA"}'), 50)
  })
  server.on('connection', (socket) => {
    const born = generation
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    socket.prependListener('data', () => born < generation && socket.resetAndDestroy())
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
  parentPort.on('message', (what) => {
    if (what === 'age') generation += 1
    else for (const socket of connections) socket.end()
    setTimeout(() => {
      Atomics.store(thawed, 0, 1)
      Atomics.notify(thawed, 0)
    }, 50)
  })
`

it.each([
  ['the server closed them', 'close'],
  ['the network forgot them', 'age'],
])('after a freeze, a call succeeds even if all idle connections are dead (%s)', async (_who, what) => {
  const shared = new SharedArrayBuffer(4)
  const thawed = new Int32Array(shared)
  const server = new Worker(forgetfulServer, { eval: true, workerData: shared })
  onTestFinished(() => void server.terminate())
  const [port] = (await once(server, 'message')) as [number]
  const client = new KMSClient({ ...clientOptions(), endpoint: `http://127.0.0.1:${port}` })
  const kms = awsClient(client)
  await Promise.all(Array.from({ length: 8 }, () => kms.send(generateMac())))
  server.postMessage(what)
  Atomics.wait(thawed, 0, 0)
  const { Mac, $metadata } = await kms.send(generateMac())
  expect(Mac).toHaveLength(3)
  expect($metadata.attempts).toBe(2)
})
