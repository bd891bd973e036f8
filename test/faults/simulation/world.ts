import {
  ChangeMessageVisibilityCommand,
  type SendMessageCommandInput,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { SendEmailCommand } from '@aws-sdk/client-sesv2'
import { PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { Context, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { ownSource } from '../../../shared/env.ts'
import { OutcomeDetail, outcomeTypes } from '../../../shared/events/outcome.ts'
import type { Intake } from '../../../shared/events/intake.ts'
import type { handler as rotate } from '../../../functions/schedule/rotate-signing-keys.ts'
import type { Endpoint } from '../../../shared/http/endpoint.ts'
import { type TestRequest, toEvent } from '../../support/call-endpoint.ts'
import { simulateCalls, type Weather } from './aws-calls.ts'
import type { Draws } from './draws.ts'
import { loadInProcess } from './processes.ts'
import { type Attributes, type Message, Queue, type QueueSpec } from './queues.ts'
import { hash } from 'node:crypto'
import { currentTask, type Task, type VirtualTime } from './virtual-time.ts'

/** Whether an error is a temporary failure of AWS that lasted longer than the SDK's retries. */
const isPassing = (error: unknown): boolean =>
  /Throttl|Timeout|OutOfTime|unavailable/.test(`${(error as Error).name} ${(error as Error).message}`)

/** The faults of queues, bus and clocks, in addition to the faults of AWS calls. */
export interface WorldWeather extends Weather {
  /** Probability that the bus delivers an event twice. */
  duplicates: number
  /** Probability that the answer to a batch is lost, so that its messages are delivered again. */
  lostDeletes: number
  /** The longest delay of an event, in milliseconds. */
  maxLate: number
  /** How far the clock of one process is ahead, in milliseconds; negative if it is behind. */
  clockOff: number
}

/** A mail that was sent. */
export interface Mail {
  to: string
  text: string
  at: number
}

/** When something began and ended: in epoch milliseconds (`at`), and in steps of the simulation's clock. */
export interface Span {
  from: { at: number; step: number }
  to: { at: number; step: number }
}

/** An event that was put on the bus, and what became of it. */
export interface SentEvent {
  id: string
  type: string
  /** Who sent the event. Nobody is told the outcomes of the service's own events. */
  source: string
  detail: object
  /** Time from the event's first delivery to the removal of its last copy; undefined while a copy is left. */
  span: Span | undefined
  /** The reason in the event's dead letter; undefined if the event has no dead letter. */
  refusal: string | undefined
}

/** An answer to a request. Numbers in its body are given as text, so that no digit is lost. */
export interface WorldAnswer {
  status: number
  code: string
  data: unknown
  headers: Record<string, unknown>
  /** How many times the request was sent before the service gave this answer. */
  attempts: number
}

/** Parses JSON and keeps every number as its source text, because a double would lose digits. */
const parseExact = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value,
  )

/** Number of simulated processes. Each runs one function at a time. */
export const processCount = 3
const deadLettersUrl = 'http://queue.invalid/dead-letters'

const mailDelayMilliseconds = 10_000

/** Timeouts of the functions in milliseconds, as in infra/permissions.ts. */
const timeouts = { endpoint: 10_000, event: 30_000, schedule: 60_000 }

interface Delivered extends SentEvent {
  copies: number
  from: Span['from'] | undefined
  /** The outcome that the sender was told, with the code of a refusal; undefined before that. */
  told: string | undefined
}

/** The service in a simulated region: its functions, bus and queues. */
export class World {
  readonly events: SentEvent[] = []
  /** Descriptions of the observed violations. A violation is behaviour that must never occur. */
  readonly violations: string[] = []
  readonly mails: Mail[] = []
  /** The instant until which the mail service is down, in epoch milliseconds. */
  mailsFrom = 0
  /** Digest of all AWS calls so far. */
  trace = ''
  readonly time: VirtualTime
  readonly #draws: Draws
  readonly #weather: WorldWeather
  readonly #queues = new Map<string, Queue>()
  readonly #underWay = new Map<string, Delivered>()
  /** The message attributes of the last dead letter of each event, keyed by event id. */
  readonly #letters = new Map<string, Attributes>()
  readonly #free = Array.from({ length: processCount }, (_, i) => i)
  readonly #waiting: ((process: number) => void)[] = []
  readonly #end: () => void
  readonly #tasks = new Set<string>()
  #running = 0
  #requests = 0

  constructor(time: VirtualTime, draws: Draws, weather: WorldWeather) {
    this.time = time
    this.#draws = draws
    this.#weather = { ...weather }
    process.env['QUEUE_URL'] = 'http://queue.invalid/events'
    process.env['DEAD_LETTER_QUEUE_URL'] = deadLettersUrl
    process.env['GROW_TREE_QUEUE_URL'] = 'http://queue.invalid/grow-tree.fifo'
    const restore = simulateCalls(draws, this.#weather, {
      play: (command) => this.#play(command),
      note: (call) => (this.trace = hash('sha256', `${this.trace} ${call}`).slice(0, 12)),
    })
    const write = process.stdout.write.bind(process.stdout)
    process.stdout.write = (text: string, ...rest: []) => {
      if (!text.startsWith('{"_aws"')) return write(text, ...rest)
      const task = currentTask.getStore()
      // Ignores faults counted by a process that was killed, because the kill causes them.
      if (text.includes('"Faults":1') && !task?.killed)
        this.violations.push(`${task?.name ?? 'nothing'} counted a fault`)
      return true
    }
    this.#end = () => {
      restore()
      process.stdout.write = write
    }
    this.#addQueue('grow-tree', {
      isFifo: true,
      maxReceives: 1_000,
      path: 'functions/worker/grow-tree.ts',
      gone: (_message, how) => {
        if (how !== 'deleted') this.violations.push('a tree message was received too often')
      },
    })
  }

  /** Stops intercepting the AWS calls and the output of this process. */
  close(): void {
    this.#end()
  }

  get instant(): Span['from'] {
    return { at: this.time.now, step: this.time.step }
  }

  /** Whether no work is in progress: no event, no message, no request. */
  get isQuiet(): boolean {
    return this.#running === 0 && [...this.#queues.values()].every(({ messages }) => messages.size === 0)
  }

  /** Describes the work in progress. */
  get underWay(): string {
    const queued = [...this.#queues].map(([name, { messages }]) => `${name} ${messages.size}`)
    return [...this.#tasks, ...queued, `free ${this.#free.length}`].join(', ')
  }

  /** Makes AWS throttle this share of all calls for a number of milliseconds. */
  throttle(share: number, milliseconds: number): void {
    const { throttles } = this.#weather
    this.#weather.throttles = share
    this.time.after(milliseconds, () => (this.#weather.throttles = throttles))
  }

  /** Puts an event on the bus. With the id of an earlier event, redrives that event's dead letter. */
  put(
    type: string,
    detail: object,
    { id = `event-${this.events.length + 1}`, source = 'simulation', delay = 0 } = {},
  ): void {
    const sent = { id, type, source, detail, span: undefined, refusal: undefined }
    const event: Delivered = { ...sent, copies: 1, from: undefined, told: undefined }
    this.events.push(event)
    this.#underWay.set(id, event)
    const queue = this.#queues.get(type) ?? this.#addEventQueue(type)
    if (this.#draws.happens(`${type} duplicate`, this.#weather.duplicates)) event.copies = 2
    const body = JSON.stringify({ version: '0', id, 'detail-type': type, source, detail })
    for (let copy = 0; copy < event.copies; copy += 1) {
      const late = this.#draws.below(`${type} late`, this.#weather.maxLate + 1)
      queue.send(body, { delay: delay + late, attributes: this.#letters.get(id) })
    }
  }

  #addEventQueue(type: string): Queue {
    const eventOf = ({ body }: Message) => this.#underWay.get((JSON.parse(body) as { id: string }).id)
    return this.#addQueue(type, {
      isFifo: false,
      maxReceives: 60,
      path: `functions/intake/${type}.ts`,
      received: (message) => {
        const event = eventOf(message)
        if (event !== undefined) event.from ??= this.instant
      },
      gone: (message, how) => {
        const event = eventOf(message)
        if (how !== 'deleted') this.violations.push(`a ${type} was received too often`)
        if (event === undefined) return
        event.copies -= 1
        if (event.copies > 0) return
        if (event.told === undefined && event.source !== ownSource)
          this.violations.push(`a ${type} ended, and its outcome was not told`)
        event.span = { from: event.from ?? this.instant, to: this.instant }
        this.#underWay.delete(event.id)
      },
    })
  }

  #addQueue(name: string, { path, ...spec }: Omit<QueueSpec, 'name' | 'invoke'> & { path: string }): Queue {
    const invoke = (event: SQSEvent, stream: string) =>
      this.#invoke(stream, path, timeouts.event, (handler, context) => (handler as Intake)(event, context))
    const queue = new Queue({ name, ...spec, invoke }, this.time, this.#draws, this.#weather.lostDeletes)
    this.#queues.set(name, queue)
    return queue
  }

  /** Answers a call to SQS, EventBridge or SES, which the simulation imitates. */
  #play(command: object): unknown {
    if (command instanceof SendMessageCommand) return this.#takeMessage(command.input)
    if (command instanceof ChangeMessageVisibilityCommand) {
      const { ReceiptHandle: id = '', VisibilityTimeout: seconds = 0 } = command.input
      for (const queue of this.#queues.values()) queue.changeVisibility(id, seconds)
      return {}
    }
    if (command instanceof PutEventsCommand) {
      const { Entries = [] } = command.input
      for (const { DetailType = '', Detail = '' } of Entries) {
        const detail = JSON.parse(Detail) as object
        if (v.is(v.picklist(outcomeTypes), DetailType)) this.#tell(v.parse(OutcomeDetail, detail))
        else {
          // Only the queue of mail.delayed delays its messages.
          const delay = DetailType === 'mail.delayed' ? mailDelayMilliseconds : 0
          this.put(DetailType, detail, { source: ownSource, delay })
        }
      }
      return { Entries: Entries.map(() => ({ EventId: 'own' })) }
    }
    if (command instanceof SendEmailCommand) {
      if (this.time.now < this.mailsFrom)
        throw Object.assign(new Error('down'), {
          name: 'ServiceUnavailable',
          $metadata: { httpStatusCode: 503 },
        })
      const { Destination, Content } = command.input
      const [to = ''] = Destination?.ToAddresses ?? []
      this.mails.push({ to, text: Content?.Simple?.Body?.Text?.Data ?? '', at: this.time.now })
      return { MessageId: 'sent' }
    }
    throw new Error(`the simulation does not play ${command.constructor.name}`)
  }

  /** Takes an outcome. It must be of an event under way, and the same each time that the event is told. */
  #tell({ event_id: id, detail_type: type, outcome, reason }: OutcomeDetail): void {
    const event = this.#underWay.get(id)
    const told = reason === undefined ? outcome : `${outcome} ${reason}`
    if (event?.type !== type) this.violations.push(`an outcome of ${type} comes late or is of nothing`)
    else if (event.source === ownSource) this.violations.push(`a ${type} of the service's own is told`)
    else if (outcome === 'refused' && event.refusal === undefined)
      this.violations.push(`a ${type} is told as refused before its dead letter is sent`)
    else if (event.told !== undefined && event.told !== told)
      this.violations.push(`a ${type} is told as ${told}, after ${event.told}`)
    else event.told = told
  }

  #takeMessage({ QueueUrl, MessageBody = '', ...message }: SendMessageCommandInput): object {
    if (QueueUrl === deadLettersUrl) {
      const { id } = JSON.parse(MessageBody) as { id: string }
      const event = this.#underWay.get(id)
      const reason = message.MessageAttributes?.['reason']?.StringValue
      this.#letters.set(id, message.MessageAttributes ?? {})
      if (event !== undefined && reason !== undefined) event.refusal = reason
      else this.violations.push(`a dead letter of ${event?.type ?? 'nothing'} has no reason or comes late`)
    } else
      this.#queues.get('grow-tree')?.send(MessageBody, {
        group: message.MessageGroupId,
        once: message.MessageDeduplicationId ?? '',
      })
    return { MessageId: 'sent' }
  }

  /** Sends a request. Repeats it, as clients do, as long as the service temporarily cannot answer. */
  async request(name: string, path: string, request: TestRequest): Promise<WorldAnswer> {
    this.#requests += 1
    this.#running += 1
    try {
      return await this.#requestUntilAnswered(`request ${this.#requests} ${name}`, path, request)
    } finally {
      this.#running -= 1
    }
  }

  async #requestUntilAnswered(stream: string, path: string, request: TestRequest): Promise<WorldAnswer> {
    for (let attempts = 1; ; attempts += 1) {
      const answer = await this.#invoke(stream, path, timeouts.endpoint, (handler, context) =>
        (handler as Endpoint)(toEvent(request), context),
      )
      if (answer !== undefined) {
        const { statusCode: status = 0, headers = {}, body = '' } = answer
        if (status === 500) this.violations.push(`${path} answered 500`)
        if (status === 503 && !('retry-after' in headers))
          this.violations.push(`${path}: 503 without Retry-After`)
        if (status < 500)
          return { status, headers, attempts, ...(parseExact(body) as { code: string; data: unknown }) }
      }
      if (attempts === 180) throw new Error(`${path} never answered`)
      await this.time.pass(1_000)
    }
  }

  /** Runs the key rotation. Resolves with undefined if AWS failed temporarily or the process was killed. */
  async rotateKeys(input: object): Promise<{ waits_for_kms: boolean; signer: string | null } | undefined> {
    this.#requests += 1
    const path = 'functions/schedule/rotate-signing-keys.ts'
    return this.#invoke(`rotation ${this.#requests}`, path, timeouts.schedule, async (handler, context) => {
      try {
        return await (handler as typeof rotate)(input, context)
      } catch (error) {
        if (!isPassing(error)) throw error
        return undefined
      }
    })
  }

  /** Runs a function in a free process. Resolves with undefined if the process was killed or timed out. */
  async #invoke<T>(
    stream: string,
    path: string,
    timeout: number,
    run: (handler: unknown, context: Context) => Promise<T>,
  ): Promise<T | undefined> {
    this.#running += 1
    const process = this.#free.pop() ?? (await new Promise<number>((resolve) => this.#waiting.push(resolve)))
    const { handler } = (await loadInProcess(process, path)) as { handler: unknown }
    const { time } = this
    const end = time.now + timeout
    const random = () => this.#draws.number(`${stream} random`)
    const clockOffset = process === 0 ? this.#weather.clockOff : 0
    const task: Task = { name: stream, time, clockOffset, killed: false, random }
    const cancel = time.after(timeout, () => (task.killed = true))
    const context = { getRemainingTimeInMillis: () => end - time.now, awsRequestId: stream } as Context
    this.#tasks.add(stream)
    try {
      const answer = await currentTask.run(task, () => run(handler, context))
      return task.killed ? undefined : answer
    } catch (error) {
      if (!task.killed) this.violations.push(`${path} failed with ${String(error)}`)
      return undefined
    } finally {
      cancel()
      this.#tasks.delete(stream)
      this.#running -= 1
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push(process)
      else next(process)
    }
  }
}
