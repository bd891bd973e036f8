import type { EventSourceModel } from '../../model.ts'
import type { Message } from '../sqs/message.ts'
import type { Queue } from '../sqs/queue.ts'
import type { Invoke } from './invoke.ts'
import { readBatchFailures } from './partial-batch.ts'
import { buildSqsEvent } from './sqs-event.ts'

/** What delivers a queue's messages to a function. */
export interface EventSource {
  /** Stops receiving and waits for the batches in flight, at most so long; what is not done by then is delivered again. */
  close(waitMilliseconds: number): Promise<void>
}

/** AWS starts with five at a time and goes up to a thousand; ten is what a laptop has use for. */
const maximumConcurrency = 10

/**
 * Gathers one batch after the other, and has as many in work at a time as the mapping allows. Messages of a batch that
 * failed stay hidden until the queue's visibility timeout has passed, as on AWS, and count as received.
 */
export function startEventSource(options: {
  mapping: EventSourceModel
  queue: Queue
  functionName: string
  reservedConcurrency: number | undefined
  region: string
  invoke: Invoke
  report: (problem: string) => void
}): EventSource {
  const { mapping, queue } = options
  const stop = new AbortController()
  const concurrency = Math.min(
    mapping.maximumConcurrency ?? Infinity,
    options.reservedConcurrency ?? Infinity,
    maximumConcurrency,
  )

  const deliver = async (messages: Message[]) => {
    const event = Buffer.from(JSON.stringify(buildSqsEvent(messages, queue.model, options.region)))
    try {
      const result = await options.invoke(options.functionName, event, 'RequestResponse')
      if (result.functionError !== undefined) return
      const ids = new Set(messages.map(({ id }) => id))
      const failed = mapping.reportBatchItemFailures
        ? readBatchFailures(result.payload, ids)
        : new Set<string>()
      if (failed === 'all') return
      queue.atomically(() => {
        for (const { id, receipt } of messages)
          if (receipt !== undefined && !failed.has(id)) queue.delete(receipt)
      })
    } catch (error) {
      // The messages become visible again by themselves; the person at the laptop should know why.
      options.report(
        `${options.functionName} could not be given a batch of ${queue.model.name}: ${String(error)}`,
      )
    }
  }

  const running = new Set<Promise<void>>()
  const run = async () => {
    while (!stop.signal.aborted) {
      if (running.size >= concurrency) {
        await Promise.race(running)
        continue
      }
      const messages = await receiveBatch(queue, mapping, stop.signal)
      if (messages.length === 0) continue
      const delivery = deliver(messages).finally(() => running.delete(delivery))
      running.add(delivery)
    }
    await Promise.all(running)
  }
  const stopped = run()

  return {
    async close(waitMilliseconds) {
      stop.abort()
      let timer: NodeJS.Timeout | undefined
      const bound = new Promise((resolve) => (timer = setTimeout(resolve, waitMilliseconds)))
      await Promise.race([stopped, bound])
      clearTimeout(timer)
    },
  }
}

/** One batch: the first messages as soon as there are any, then more until the batch is full or its window has closed. */
async function receiveBatch(
  queue: Queue,
  mapping: EventSourceModel,
  signal: AbortSignal,
): Promise<Message[]> {
  const messages = await queue.receive(mapping.batchSize, { waitMilliseconds: Infinity, signal })
  const windowEnd = Date.now() + mapping.batchingWindowSeconds * 1000
  while (messages.length < mapping.batchSize && !signal.aborted) {
    const left = windowEnd - Date.now()
    if (left <= 0) break
    messages.push(
      ...(await queue.receive(mapping.batchSize - messages.length, { waitMilliseconds: left, signal })),
    )
  }
  return messages
}
