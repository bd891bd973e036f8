import type { BoundServer } from '../http/bind-server.ts'
import { openQuirks, type Quirks } from '../quirks.ts'
import type { StackModel } from '../model.ts'
import type { InvokeFunction } from '../runtime/runtime.ts'
import { apiGatewayService, type StageVariables } from './apigateway/stage-operations.ts'
import { dispatch, type DispatchOptions } from './dispatch.ts'
import { openDynamodbProxy } from './dynamodb/dynamodb-proxy.ts'
import { eventOperations } from './eventbridge/event-operations.ts'
import { archiveOperations, openArchives } from './eventbridge/archives.ts'
import { openOutcomes } from './eventbridge/outcomes.ts'
import { ownRuleOperations } from './eventbridge/own-rules.ts'
import { openRules } from './eventbridge/rules.ts'
import type { Callers } from './iam/callers.ts'
import { cryptographicOperations } from './kms/cryptographic-operations.ts'
import { keyOperations } from './kms/key-operations.ts'
import { KeyStore } from './kms/key-store.ts'
import { prepareEventSources, type EventSource } from './lambda/event-source.ts'
import { eventSourceService } from './lambda/event-source-operations.ts'
import { lambdaService } from './lambda/function-operations.ts'
import { s3Service } from './s3/locked-objects.ts'
import { openOutbox, sesService } from './ses/outbox.ts'
import { ownQueueOperations } from './sqs/own-queues.ts'
import { openQueues, viewDeadLetters, viewQueues } from './sqs/queues.ts'
import { sqsOperations } from './sqs/sqs-operations.ts'
import { openStore } from './storage/store.ts'
import { jsonService } from './wire/operation.ts'

export type { Credentials } from './iam/callers.ts'
export type { QueueView } from './sqs/queues.ts'

/** The options of the local AWS endpoint. */
export interface AwsEndpointOptions {
  server: BoundServer
  model: StackModel
  /** The functions and roles of the model, with their access keys. */
  callers: Callers
  /** URL of DynamoDB Local, which answers the DynamoDB requests. */
  dynamodbEndpoint: string
  /** Directory in which keys, messages and mails survive a restart; if undefined, they are only in memory. */
  dataDirectory: string | undefined
  invoke: InvokeFunction
  /** The faults and delays of AWS that the endpoint imitates. Default: none. */
  quirks?: Quirks
  onAccess?: DispatchOptions['onAccess']
  /** Receives a line for each problem of the endpoint, such as a failed delivery. Default: standard error. */
  report?: (problem: string) => void
}

/** The running AWS endpoint. */
export type AwsEndpoint = Awaited<ReturnType<typeof startAwsEndpoint>>

const closeMilliseconds = 10_000
/** With `--aws freezes`, the server closes a connection after it was idle for this time. */
const frozenKeepAliveMilliseconds = 1000

/**
 * Serves the stack's keys, queues, rules, mails, functions and tables with AWS's own protocols on 127.0.0.1.
 * Rejects if a policy, pattern, schedule or event source cannot be emulated.
 */
export async function startAwsEndpoint(options: AwsEndpointOptions) {
  const { model, callers, invoke, server, quirks = openQuirks() } = options
  const report = options.report ?? ((problem: string) => void process.stderr.write(`aws: ${problem}\n`))
  const store = openStore(options.dataDirectory)
  const queues = openQueues(store, model, quirks)
  const outbox = openOutbox(store)
  const delivery = { model, queues, quirks, callers, invoke, report }
  const archives = openArchives(model, store)
  const outcomes = openOutcomes()
  const rules = openRules(delivery, { archives, store, outcomes })
  const starters = prepareEventSources(delivery)
  const keys = await KeyStore.open(store, model, quirks)
  const dynamodb = openDynamodbProxy(model, options.dynamodbEndpoint, quirks)

  const busOperations = {
    ...eventOperations(delivery, rules, store),
    ...ownRuleOperations(model, rules, queues),
    ...archiveOperations(model, archives, rules.replay, store),
  }
  const queueOperations = {
    ...sqsOperations(queues, model.accountId),
    ...ownQueueOperations(queues, model, server.url),
  }
  const stageVariables: StageVariables = {}
  const sources: EventSource[] = []
  const kmsOperations = { ...keyOperations(keys), ...cryptographicOperations(keys) }
  const services: DispatchOptions = {
    callers,
    report,
    quirks,
    onAccess: options.onAccess,
    services: [
      dynamodb.service,
      jsonService('TrentService', 'application/x-amz-json-1.1', kmsOperations),
      jsonService('AmazonSQS', 'application/x-amz-json-1.0', queueOperations),
      jsonService('AWSEvents', 'application/x-amz-json-1.1', busOperations),
      sesService(model, outbox),
      lambdaService(model, invoke, report),
      eventSourceService(model, sources),
      apiGatewayService(model, stageVariables),
      s3Service(store),
    ],
  }
  const freezes = quirks.has('freezes')
  server.serve(
    (request, response) => {
      // Does not tell clients the keep-alive timeout. Otherwise, they would close the connection first.
      if (freezes) response.setHeader('connection', 'keep-alive')
      return dispatch(services, request, response)
    },
    freezes ? frozenKeepAliveMilliseconds : undefined,
  )

  return {
    url: server.url,
    stageVariables,
    queues: () => viewQueues(queues),
    deadLetters: () => viewDeadLetters(queues),
    /** The newest outcomes of events since the start, the one that was told last first. */
    outcomes: () => outcomes.list(),
    outbox: (to?: string) => outbox.list(to),
    /** Starts the schedules and the delivery from queues to functions. Call it when the functions can run. */
    startDelivery(): void {
      sources.push(...starters.splice(0).map((start) => start()))
      rules.startSchedules()
    },
    /** Stops delivery, waits up to 10 s for the batches in flight, and closes the endpoint. */
    async close(): Promise<void> {
      rules.close()
      await Promise.all(sources.map((source) => source.close(closeMilliseconds)))
      await server.close(0)
      dynamodb.close()
      store.close()
    },
  }
}
