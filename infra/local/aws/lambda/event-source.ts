import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import * as v from 'valibot'
import type { Quirks } from '../../quirks.ts'
import type { EventSourceModel, FunctionModel, StackModel } from '../../model.ts'
import type { InvokeFunction } from '../../runtime/runtime.ts'
import type { Callers } from '../iam/callers.ts'
import { md5, md5OfAttributes, systemAttributes } from '../sqs/message.ts'
import type { Message, MessageAttribute } from '../sqs/message.ts'
import type { Queue } from '../sqs/queue.ts'
import { losesAnswer } from '../sqs/queue-quirks.ts'
import { queueAccess, type Queues } from '../sqs/queues.ts'

/** Options for the delivery of queued messages to functions, and of events to queues and functions. */
export interface DeliveryOptions {
  model: StackModel
  queues: Queues
  quirks: Quirks
  callers: Callers
  invoke: InvokeFunction
  /** Receives a line for each delivery that failed. */
  report: (problem: string) => void
}

/** While enabled, an event source delivers the messages of one SQS queue to one function. */
export interface EventSource {
  uuid: string
  queueArn: string
  functionArn: string
  /** `Disabling`: disabled, but the function still processes messages that were received before. */
  state: () => 'Enabled' | 'Disabling' | 'Disabled'
  enable: () => void
  disable: () => void
  /** Stops receiving messages, and waits up to `waitMilliseconds` for the batches in flight. */
  close(waitMilliseconds: number): Promise<void>
}

const timeoutProbability = 0.02
/**
 * A simulated timeout (`--aws timeouts`) ends a function at a random moment, at most this long after its
 * start. Most functions do their work in this time.
 */
const maxRunMilliseconds = 100

/** Checks the stack's event sources, as AWS does when it creates them. Returns a start function for each. */
export function prepareEventSources(options: DeliveryOptions): (() => EventSource)[] {
  const { model, queues, callers, report } = options
  return model.eventSources.flatMap((mapping) => {
    const queue = queues.byArn(mapping.queueArn)
    const target = model.functions.find(({ name }) => name === mapping.functionName)
    const poller = callers.of(target?.arn ?? '')
    if (queue === undefined || target === undefined || poller === undefined)
      throw new Error(`an event source names an unknown queue or function: ${mapping.queueArn}`)
    const { visibilityTimeoutSeconds: visibility, name: queueName } = queue.model
    if (visibility < target.timeoutSeconds)
      throw new Error(
        `Queue visibility timeout: ${visibility} seconds is less than Function timeout: ` +
          `${target.timeoutSeconds} seconds (queue ${queueName}, function ${target.name})`,
      )
    // Lambda reads the queue with the function's role. If the role lacks a permission, nothing is delivered.
    for (const action of ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes']) {
      const denial = poller.findDenial(queueAccess(action, queue))
      if (denial === undefined) continue
      report(`${target.name} is given nothing from ${queueName}: ${denial}`)
      return []
    }
    // After 16 rounds, Lambda stops a function that sends itself messages ("recursive loop detection").
    if (poller.findDenial(queueAccess('SendMessage', queue)) === undefined)
      throw new Error(`the function ${target.name} can send to ${queueName}, the queue that feeds it`)
    return [() => startEventSource(mapping, queue, target, options)]
  })
}

function startEventSource(
  mapping: EventSourceModel,
  queue: Queue,
  target: FunctionModel,
  options: DeliveryOptions,
): EventSource {
  let stop: AbortController | undefined
  let state: ReturnType<EventSource['state']> = 'Disabled'
  const { batchSize, maximumConcurrency } = mapping
  const deliveries = new Set<Promise<void>>()
  const poll = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const messages = await queue.receive(batchSize, { waitMilliseconds: Infinity, signal })
      if (messages.length === 0) continue
      const delivery = deliver(messages, queue, target, options)
      deliveries.add(delivery)
      void delivery.then(() => deliveries.delete(delivery))
      if (deliveries.size >= maximumConcurrency) await Promise.race(deliveries)
    }
    await Promise.all(deliveries)
  }
  let polling = Promise.resolve()
  const source: EventSource = {
    uuid: randomUUID(),
    queueArn: queue.model.arn,
    functionArn: target.arn,
    state: () => state,
    enable() {
      if (stop !== undefined) return
      const { signal } = (stop = new AbortController())
      state = 'Enabled'
      polling = polling.then(() => poll(signal))
    },
    disable() {
      if (stop === undefined) return
      stop.abort()
      stop = undefined
      state = 'Disabling'
      polling = polling.then(() => {
        if (stop === undefined) state = 'Disabled'
      })
    },
    async close(waitMilliseconds) {
      source.disable()
      await Promise.race([polling, setTimeout(waitMilliseconds, undefined, { ref: false })])
    },
  }
  source.enable()
  return source
}

/** Invokes the function with a batch, and deletes the messages that it processed. The others stay queued. */
async function deliver(
  messages: Message[],
  queue: Queue,
  { name }: FunctionModel,
  { model, quirks, invoke, report }: DeliveryOptions,
): Promise<void> {
  try {
    const event = buildSqsEvent(messages, queue.model.arn, model.region)
    const result = await invoke(name, JSON.stringify(event), drawTimeout(name, quirks))
    if (result.functionError !== undefined || losesAnswer(quirks, queue.model.name))
      return hasten(messages, queue, quirks)
    const ids = new Set(messages.map(({ id }) => id))
    const failed = readBatchFailures(result.payload, ids)
    const processed = messages.filter(({ id }) => failed !== undefined && !failed.has(id))
    for (const { receipt } of processed) queue.delete(receipt ?? '')
  } catch (error) {
    report(`${name} could not be given a batch of ${queue.model.name}: ${String(error)}`)
  }
}

function drawTimeout(name: string, quirks: Quirks): number | undefined {
  const isEnded = quirks.happens('timeouts', name, timeoutProbability)
  return isEnded ? quirks.draw('timeouts', `${name} after`) * maxRunMilliseconds : undefined
}

/**
 * Divides the visibility timeout of messages by `speed`, so that they become visible again sooner. Leaves
 * those alone that the function has given back itself.
 */
function hasten(messages: Message[], queue: Queue, { speed }: Quirks): void {
  if (speed === 1) return
  const seconds = queue.model.visibilityTimeoutSeconds / speed
  for (const { receipt } of messages)
    if (queue.isInFlight(receipt ?? '')) queue.changeVisibility(receipt ?? '', seconds)
}

/** Builds the event with which Lambda delivers SQS messages to a function (SQSEvent in the types package). */
function buildSqsEvent(messages: Message[], queueArn: string, region: string) {
  return {
    Records: messages.map((message) => ({
      messageId: message.id,
      receiptHandle: message.receipt,
      body: message.body,
      attributes: systemAttributes(message),
      messageAttributes: Object.fromEntries(
        Object.entries(message.attributes).map(([name, attribute]) => [name, describeAttribute(attribute)]),
      ),
      md5OfBody: md5(message.body),
      md5OfMessageAttributes: md5OfAttributes(message.attributes),
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion: region,
    })),
  }
}

const describeAttribute = ({ StringValue: stringValue, DataType: dataType }: MessageAttribute) => ({
  stringValue,
  stringListValues: [],
  binaryListValues: [],
  dataType,
})

const Failure = v.object({ itemIdentifier: v.pipe(v.string(), v.minLength(1)) })
const BatchResponse = v.nullable(v.object({ batchItemFailures: v.nullish(v.array(Failure), []) }))

/**
 * Reads the ids of the failed messages from a function's result; an empty or null result means none. Returns
 * undefined if Lambda counts the whole batch as failed, because the result names an unknown message or has a
 * wrong form.
 */
function readBatchFailures(payload: string, ids: ReadonlySet<string>): Set<string> | undefined {
  try {
    const answer = v.parse(BatchResponse, payload === '' ? null : JSON.parse(payload))
    const failed = new Set(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    return [...failed].every((id) => ids.has(id)) ? failed : undefined
  } catch {
    // Lambda treats a result that it cannot parse as an error of the function.
    return undefined
  }
}
