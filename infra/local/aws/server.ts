import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FunctionModel, RoleModel, StackModel } from '../model.ts'
import { dispatch, type Services } from './dispatch.ts'
import { openDynamodbProxy } from './dynamodb/proxy.ts'
import { eventBridgeOperations } from './eventbridge/operations.ts'
import { openRules } from './eventbridge/rules.ts'
import { openCallers } from './iam/callers.ts'
import { KeyRing } from './kms/key-ring.ts'
import { kmsOperations } from './kms/operations.ts'
import type { EventSource } from './lambda/event-source.ts'
import type { Invoke } from './lambda/invoke.ts'
import { prepareEventSources } from './lambda/prepare-event-sources.ts'
import { openOutbox, type OutboxMessage } from './ses/outbox.ts'
import { sqsOperations } from './sqs/operations.ts'
import type { Queue } from './sqs/queue.ts'
import { openQueues } from './sqs/queues.ts'
import { openStore } from './store.ts'
import { type DeadLetterView, type QueueView, viewDeadLetters, viewQueues } from './views.ts'
import type { Credentials } from './wire/credentials.ts'

export type { Invoke, InvokeResult } from './lambda/invoke.ts'
export type { OutboxMessage } from './ses/outbox.ts'
export type { QueueView } from './views.ts'
export type { Credentials } from './wire/credentials.ts'

/** What the endpoint is made of. */
export interface AwsEndpointOptions {
  /** 0 for any free one. */
  port: number
  model: StackModel
  /** DynamoDB Local, where requests for DynamoDB are passed on to. */
  dynamodbEndpoint: string
  /** Where keys, messages and mails survive a restart; undefined for memory only. */
  dataDirectory: string | undefined
  invoke: Invoke
  /** Told of what went wrong outside of any request, a line each; standard error by default. */
  report?: (problem: string) => void
}

/** The running endpoint. */
export interface AwsEndpoint {
  url: string
  queues(): QueueView[]
  /** Newest first. */
  deadLetters(): DeadLetterView[]
  /** Newest first; all, or those to one address. */
  outbox(to?: string): OutboxMessage[]
  /** What a function or a role signs its calls with: its key is how the endpoint knows whose policies to ask. */
  credentialsFor(holder: FunctionModel | RoleModel): Credentials
  /** Begins to hand queued messages to functions, and to follow the schedules: call it when the functions can be run. */
  startDelivery(): void
  /** Stops delivery, waits for the batches in flight (10 s at most), and closes all. */
  close(): Promise<void>
}

const closeMilliseconds = 10_000

/**
 * Serves the stack's keys, queues, rules, mails, functions and tables by AWS's own protocols on the loopback interface.
 * Rejects on a policy, pattern, schedule or event source that it could not honour, and on a port that is taken.
 */
export async function startAwsEndpoint(options: AwsEndpointOptions): Promise<AwsEndpoint> {
  const { model, invoke } = options
  const report = options.report ?? ((problem: string) => void process.stderr.write(`aws: ${problem}\n`))
  const callers = openCallers(model)
  const store = openStore(options.dataDirectory)
  const queues = openQueues(store, model)
  const outbox = openOutbox(store)
  const rules = openRules(model, { queues, report, invoke })
  const starters = prepareEventSources({ model, queues, callers, invoke, report })
  const ring = await KeyRing.open(store, model)
  const proxy = openDynamodbProxy(options.dynamodbEndpoint)

  let url = ''
  const urlOf = (queue: Queue) => `${url}/${model.accountId}/${queue.model.name}`
  const sqs = sqsOperations(queues, { senderId: model.accountId, urlOf })
  const events = eventBridgeOperations(model, rules, (work) => store.atomically(work))
  const services: Services = {
    model,
    proxy,
    outbox,
    invoke,
    callers,
    report,
    targets: {
      TrentService: { operations: kmsOperations(ring), contentType: 'application/x-amz-json-1.1' },
      AmazonSQS: { operations: sqs, contentType: 'application/x-amz-json-1.0' },
      AWSEvents: { operations: events, contentType: 'application/x-amz-json-1.1' },
    },
  }
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    void dispatch(services, request, response)
  })
  url = await listen(server, options.port)

  const sources: EventSource[] = []
  return {
    url,
    queues: () => viewQueues(queues.list(), urlOf),
    deadLetters: () => viewDeadLetters(queues.list()),
    outbox: (to) => outbox.list(to),
    credentialsFor({ arn, name }) {
      const found = callers.of(arn)
      if (found === undefined) throw new Error(`${name} is no function or role of this stack`)
      return found.credentials
    },
    startDelivery() {
      sources.push(...starters.splice(0).map((start) => start()))
      rules.startSchedules()
    },
    async close() {
      rules.close()
      await Promise.all(sources.map((source) => source.close(closeMilliseconds)))
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      proxy.close()
      queues.close()
      store.close()
    },
  }
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
