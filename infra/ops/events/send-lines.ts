import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { requireEnv } from '../../../shared/env.ts'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import type { CommandContext } from '../command.ts'
import { collectDeadLetters } from '../dead-letters/actions.ts'
import { findQueue, onDeadLetters, openSqs, type QueuePair } from '../dead-letters/queues.ts'
import { UsageError } from '../errors.ts'
import { showFall, startProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { awaitEmptyQueues } from './await-empty-queues.ts'
import { type OutgoingEvent, readEvent } from './read-event.ts'

/** An input line whose event is invalid, was refused by the bus, or became a dead letter. */
interface RejectedLine {
  line: number
  detail_type: string | null
  reason: string | null
}

const concurrency = 32

/** Maximum number of attempts to put an event while the bus cannot accept it. */
const maxAttempts = 8

const maxListed = 1_000

/**
 * Sends each line of a file (`-`: standard input) as an event, waits until the events are applied, and finds
 * the rejected ones. A run that ended early can start again from the first line, because an event takes
 * effect only once.
 */
export async function sendLines({ target, terminal }: CommandContext, file: string) {
  // Marks each event with the id of this run and the number of its input line. Dead letters keep the mark.
  const mark = `urn:event-put:${randomUUID()}:`
  const client = new EventBridgeClient({
    ...clientOptions(),
    // Timeouts are longer than in functions, because no caller waits and a failure ends the whole run.
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 30_000 },
    maxAttempts,
  })
  const types = new Set<string>()
  const notSent: RejectedLine[] = []
  const counts = { lines: 0, sent: 0, refused: 0 }
  await forEachConcurrently(readLines(file, terminal), concurrency, async ({ line, text }) => {
    counts.lines = line
    if (text.trim() === '') return
    const event = readEvent(target.stage, text)
    const problem = typeof event === 'string' ? event : await put(client, event, mark + String(line))
    if (typeof event !== 'string' && problem === undefined) {
      types.add(event.detailType)
      counts.sent += 1
      return
    }
    counts.refused += 1
    if (notSent.length < maxListed) notSent.push({ line, detail_type: null, reason: problem ?? null })
  })
  const queues = [...types].map((type) => findQueue(target, type))
  const sqs = openSqs()
  const isSettled = await awaitSettled(sqs, queues, terminal)
  if (!isSettled) terminal.err('some events still wait in their queues')
  const isOurs = (resource: string) => resource.startsWith(mark)
  const found = await onDeadLetters(sqs, queues, ({ deadLetters }) =>
    collectDeadLetters(sqs, deadLetters, {
      limit: maxListed,
      matches: ({ resources }) => resources.some(isOurs),
    }),
  )
  const rejected = found
    .flatMap(({ letters }) => letters)
    .map(({ resources, detailType, reason }) => ({
      line: Number(resources.find(isOurs)?.slice(mark.length)),
      detail_type: detailType,
      reason,
    }))
  const refusedCount = counts.refused + rejected.length
  return {
    lines: counts.lines,
    sent: counts.sent,
    /** Whether every line has taken effect: none was refused, and none still waits in a queue. */
    applied: isSettled && refusedCount === 0,
    refused_count: refusedCount,
    /** Rejected lines: up to 1,000 that were not sent, and up to 1,000 from each dead-letter queue. */
    refused: [...notSent, ...rejected].sort((a, b) => a.line - b.line),
  }
}

/** Yields the lines of a file with their numbers. Throws a UsageError for a directory, and without a file. */
async function* readLines(file: string, terminal: Terminal): AsyncGenerator<{ line: number; text: string }> {
  if (file !== '-' && !existsSync(file)) throw new UsageError(`there is no file ${file}`)
  if (file !== '-' && statSync(file).isDirectory()) throw new UsageError(`${file} is a directory`)
  const stream = file === '-' ? undefined : createReadStream(file)
  const input = stream ?? Readable.from(terminal.readInput())
  const kilobytes = (bytes: number) => Math.ceil(bytes / 1_000)
  // The end of standard input is not known.
  const end = stream === undefined ? 0 : kilobytes(statSync(file).size)
  using progress = startProgress(terminal, 'sending', 'kB')
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    if (stream !== undefined) progress.show(kilobytes(stream.bytesRead), end)
    yield { line: (line += 1), text }
  }
}

async function awaitSettled(sqs: SQSClient, queues: QueuePair[], terminal: Terminal): Promise<boolean> {
  using progress = startProgress(terminal, 'applying', 'events')
  return await awaitEmptyQueues(sqs, queues, showFall(progress.show))
}

/** Puts an event on the bus. Resolves with the reason if the bus does not accept the event. */
async function put(
  client: EventBridgeClient,
  { source: Source, detailType: DetailType, detail: Detail }: OutgoingEvent,
  mark: string,
): Promise<string | undefined> {
  const EventBusName = requireEnv('EVENT_BUS_NAME')
  const Entries = [{ EventBusName, Source, DetailType, Detail, Resources: [mark] }]
  for (let attempt = 1; ; attempt += 1) {
    const code = (await client.send(new PutEventsCommand({ Entries }))).Entries?.[0]?.ErrorCode
    if (code === undefined) return undefined
    if (!transientErrors.includes(code) || attempt === maxAttempts) return `the bus refused it: ${code}`
    await wait(Math.random() * 100 * 2 ** attempt)
  }
}

const transientErrors = ['ThrottlingException', 'InternalFailure', 'InternalException']
