import { once } from 'node:events'
import { request, type IncomingMessage, type RequestOptions } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { createGateway } from '../../../../infra/local/gateway/gateway.ts'
import { bindServer, type BoundServer } from '../../../../infra/local/http/bind-server.ts'
import { composeEnvironment } from '../../../../infra/local/runtime/function-environment.ts'
import { Runtime } from '../../../../infra/local/runtime/runtime.ts'
import { describeFunction } from '../fixture/models.ts'

const handlers = ['probe.show', 'probe.answer', 'probe.fault', 'probe.huge', 'probe.hang', 'broken.handler']
let server: BoundServer
let runtime: Runtime

beforeAll(async () => {
  server = await bindServer(0, '--port')
  runtime = new Runtime({
    functions: handlers.map((handler) =>
      describeFunction(handler, { timeoutSeconds: handler === 'probe.hang' ? 5 : 10 }),
    ),
    environmentOf: (model) =>
      composeEnvironment(model, 'us-east-1', server.url, {
        accessKeyId: 'key',
        secretAccessKey: 'secret',
      }),
    log: { write: () => undefined },
    limits: { maxWorkersPerFunction: 2 },
  })
  const route = (routeKey: string, handler = 'probe.show') => ({
    routeKey,
    functionName: handler.replace('.', '-'),
  })
  server.serve(
    createGateway({
      routes: [
        route('GET /show'),
        route('POST /show'),
        route('GET /things/{id}'),
        route('GET /things/special'),
        route('POST /answer', 'probe.answer'),
        route('GET /fault', 'probe.fault'),
        route('GET /huge', 'probe.huge'),
        route('GET /broken', 'broken.handler'),
        route('GET /hang', 'probe.hang'),
        { ...route('GET /throttled'), throttle: { rate: 0.001, burst: 2 } },
      ],
      invoke: runtime.invoke,
      stageVariables: {},
      // Longer than a busy machine takes to start a worker, and shorter than `probe.hang` may run.
      integrationTimeoutMilliseconds: 3_000,
    }),
  )
})

afterAll(async () => {
  await runtime.close()
  await server.close()
})

// Uses Node's HTTP client, because fetch cannot send a header twice.
async function send(method: string, path: string, options: RequestOptions = {}, body?: string | Buffer) {
  const outgoing = request({ host: '127.0.0.1', port: server.port, method, path, agent: false, ...options })
  // The gateway may answer and close the connection while a large body is still being sent.
  outgoing.on('error', () => undefined)
  const [incoming] = (await once(outgoing.end(body), 'response')) as [IncomingMessage]
  return { status: incoming.statusCode, headers: incoming.headers, text: await text(incoming) }
}

const see = async (...arguments_: Parameters<typeof send>) => {
  const answer = await send(...arguments_)
  expect(answer.status).toBe(200)
  return JSON.parse(answer.text) as APIGatewayProxyEventV2
}

const ask = (response: unknown, headers: Record<string, string> = {}) =>
  send(
    'POST',
    '/answer',
    { headers: { 'content-type': 'application/json', ...headers } },
    JSON.stringify(response),
  )

it('the gateway’s event has the members of payload format 2.0, with repeated headers joined', async () => {
  const event = await see('GET', '/things/a%2Fb%20c?x=1&x=2&y=%20z&x=', {
    headers: { 'User-Agent': 'probe/1', 'X-Twice': ['one', 'two'] },
  })
  expect(event).toMatchObject({
    version: '2.0',
    routeKey: 'GET /things/{id}',
    rawPath: '/things/a/b c',
    rawQueryString: 'x=1&x=2&y=%20z&x=',
    pathParameters: { id: 'a/b c' },
    isBase64Encoded: false,
    requestContext: {
      stage: '$default',
      routeKey: 'GET /things/{id}',
      http: {
        method: 'GET',
        path: '/things/a/b c',
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: 'probe/1',
      },
    },
  })
  expect(event.headers).toMatchObject({
    'user-agent': 'probe/1',
    'x-twice': 'one,two',
    'content-length': '0',
  })
  expect(event.headers).not.toHaveProperty('connection')
  expect(event.body).toBeUndefined()
  expect(event.requestContext.requestId).toMatch(/^[\w-]{15}=$/)
})

it.each([
  ['application/json', '{"a":"ü"}', false],
  ['application/json; charset=utf-8', '{}', false],
  ['application/x-www-form-urlencoded', 'a=b', true],
  ['application/octet-stream', 'a', true],
  [undefined, 'a', true],
])(
  'the gateway passes a body of type %s to the function in the encoding that API Gateway uses',
  async (type, body, encoded) => {
    const event = await see(
      'POST',
      '/show',
      { headers: type === undefined ? {} : { 'Content-Type': type } },
      body,
    )
    expect(event.isBase64Encoded).toBe(encoded)
    expect(encoded ? Buffer.from(event.body ?? '', 'base64').toString() : event.body).toBe(body)
    expect(event.headers['content-length']).toBe(String(Buffer.byteLength(body)))
  },
)

it('the gateway prefers a route with a fixed path over one with a path variable', async () => {
  expect((await see('GET', '/things/special')).routeKey).toBe('GET /things/special')
})

it.each([
  ['no body', { statusCode: 302, headers: { location: '/x' } }, 302, '', 'text/plain;charset=UTF-8'],
  ['a bad status', { statusCode: 'x' }, 500, '{"message":"Internal Server Error"}', 'application/json'],
  [
    'a body that is not a string',
    { statusCode: 200, body: {} },
    500,
    '{"message":"Internal Server Error"}',
    'application/json',
  ],
])(
  'the gateway responds as API Gateway does if a function’s result has %s',
  async (_name, response, status, text, type) => {
    const answer = await ask(response)
    expect(answer).toMatchObject({ status, text })
    expect(answer.headers['content-type']).toBe(type)
  },
)

it.each([
  ['GET', '/nowhere', 404, 'Not Found'],
  ['POST', '/fault', 404, 'Not Found'],
  ['GET', '/things/', 404, 'Not Found'],
  ['GET', '/things/a/b', 404, 'Not Found'],
  ['GET', '/fault', 500, 'Internal Server Error'],
  ['GET', '/huge', 500, 'Internal Server Error'],
  ['GET', '/broken', 500, 'Internal Server Error'],
  ['GET', '/hang', 503, 'Service Unavailable'],
])(
  'for %s %s the gateway answers %i with API Gateway’s message %s',
  async (method, path, status, message) => {
    const answer = await send(method, path)
    expect(answer).toMatchObject({ status, text: JSON.stringify({ message }) })
  },
)

it('the gateway answers a body over 10 MB with 413, with and without content-length', async () => {
  const body = Buffer.alloc(10 * 1024 * 1024 + 1, 97)
  const answers = await Promise.allSettled([
    send('POST', '/show', { headers: { 'content-length': body.length } }),
    send('POST', '/show', { headers: { 'transfer-encoding': 'chunked' } }, body),
  ])
  const refused = { value: { status: 413, text: '{"message":"Request Entity Too Large"}' } }
  expect(answers[0]).toMatchObject(refused)
  // The connection may close while the client still sends the body. The client then does not read the 413.
  if (answers[1].status === 'fulfilled') expect(answers[1]).toMatchObject(refused)
  expect(await see('GET', '/show')).toBeDefined()
})

it('the gateway answers 429 when a route’s burst capacity is used up', async () => {
  const answers = []
  for (const path of ['/throttled', '/throttled', '/throttled', '/show'])
    answers.push(await send('GET', path))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 200])
  expect(answers[2]?.text).toBe('{"message":"Too Many Requests"}')
  expect(answers[2]?.headers).not.toHaveProperty('retry-after')
})
