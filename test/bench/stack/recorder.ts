import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as startRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { openDatabase } from '../../../infra/local/dynamodb/own-database.ts'
import { billCall, noBill } from '../../support/bill-call.ts'
import type { AwsCall } from './aws-call.ts'

/** Every answer comes this long after its call, in milliseconds, so that calls sent together overlap. */
const latency = 5

/** An answer that AWS gave, for a server that repeats it. */
export interface RecordedAnswer {
  /** When the call came, in milliseconds of `performance.now()`. */
  startedAt: number
  /** When it was answered, epoch milliseconds. */
  at: number
  target: string
  request: string
  status: number
  contentType: string
  body: Buffer
}

/** A proxy in front of the local AWS endpoint, which records and bills the calls that pass. */
export type Recorder = Awaited<ReturnType<typeof startRecorder>>

/** Starts a recorder in front of an AWS endpoint whose table is in this DynamoDB Local. */
export async function startRecorder(options: { awsUrl: string; dynamodbEndpoint: string; table: string }) {
  const calls: AwsCall[] = []
  const answers: RecordedAnswer[] = []
  const agent = new Agent({ keepAlive: true })
  const database = openDatabase(options.dynamodbEndpoint)
  const server = createServer((request, response) => void record(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')

  async function record(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now()
    const request = { target: targetOf(message), body: await buffer(message) }
    const call = () => pass(message, request.body, options.awsUrl, agent)
    const { answer, bill } = request.target.startsWith('DynamoDB')
      ? await billPassed(request, call)
      : { answer: await call(), bill: noBill }
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + latency - performance.now())))
    response.writeHead(answer.status, answer.headers).end(answer.body)
    calls.push({ ...describe(request.target), ...bill, startedAt, endedAt: performance.now() })
    answers.push({
      startedAt,
      at: Date.now(),
      target: request.target,
      request: request.body.toString(),
      status: answer.status,
      contentType: answer.headers['content-type'] ?? '',
      body: answer.body,
    })
  }

  const billPassed = ({ target, body }: { target: string; body: Buffer }, call: () => Promise<Passed>) =>
    billCall(
      database,
      options.table,
      { operation: describe(target).operation, input: JSON.parse(body.toString()) as object },
      async () => {
        const answer = await call()
        return { answer, body: JSON.parse(answer.body.toString()) as object }
      },
    )

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns what has been recorded since the last time, in the order of the calls. */
    take: () => ({ calls: calls.splice(0).sort(byStart), answers: answers.splice(0).sort(byStart) }),
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      agent.destroy()
      database.destroy()
    },
  }
}

const byStart = (a: { startedAt: number }, b: { startedAt: number }): number => a.startedAt - b.startedAt

const targetOf = ({ headers, method, url }: IncomingMessage): string =>
  String(headers['x-amz-target'] ?? `${method ?? ''} ${url?.split('?', 1)[0] ?? ''}`)

const services: [RegExp, AwsCall['service']][] = [
  [/^DynamoDB/, 'dynamodb'],
  [/^TrentService/, 'kms'],
  [/^AmazonSQS/, 'sqs'],
  [/^AWSEvents/, 'events'],
  [/outbound-emails/, 'ses'],
]

const describe = (target: string) => ({
  service: services.find(([pattern]) => pattern.test(target))?.[1] ?? 'other',
  operation: target.split('.').at(-1) ?? '',
})

interface Passed {
  status: number
  headers: Record<string, string>
  body: Buffer
}

async function pass(message: IncomingMessage, body: Buffer, awsUrl: string, agent: Agent): Promise<Passed> {
  const target = new URL(awsUrl)
  const passed = startRequest(new URL(message.url ?? '/', target), {
    agent,
    method: message.method ?? 'POST',
    headers: { ...message.headers, host: target.host, connection: 'keep-alive' },
  })
  const answered = once(passed, 'response') as Promise<[IncomingMessage]>
  passed.end(body)
  const [answer] = await answered
  const kept = ['content-type', 'x-amzn-errortype', 'x-amz-crc32', 'x-amzn-query-error', 'x-amzn-requestid']
  const headers = kept.flatMap((name) => {
    const value = answer.headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return {
    status: answer.statusCode ?? 502,
    headers: Object.fromEntries(headers),
    body: await buffer(answer),
  }
}
