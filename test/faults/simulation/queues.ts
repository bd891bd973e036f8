import type { MessageAttributeValue } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { toSqsEvent } from '../../support/sqs-event.ts'
import type { Draws } from './draws.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The attributes of an SQS message. */
export type Attributes = Record<string, MessageAttributeValue>

/** A message of a queue. Instants are epoch milliseconds of the virtual time. */
export interface Message {
  id: string
  body: string
  attributes?: Attributes | undefined
  group: string | undefined
  sentAt: number
  firstReceivedAt: number | undefined
  visibleAt: number
  receives: number
}

/** The settings of a queue, and the function to which it delivers. */
export interface QueueSpec {
  name: string
  isFifo: boolean
  maxReceives: number
  /** Runs the function. Resolves with undefined if the function was killed. */
  invoke: (event: SQSEvent, stream: string) => Promise<SQSBatchResponse | undefined>
  /** `received` is called for each received message, and `gone` for each message that leaves the queue. */
  received?: (message: Message) => void
  gone: (message: Message, how: 'deleted' | 'too many receives') => void
}

const visibilityMilliseconds = 180_000
const batchSize = 10
const deduplicationMilliseconds = 300_000
/** Maximum time that a message waits for the queue to be polled. The wait lets messages form batches. */
const maxPollMilliseconds = 60

/** A queue in virtual time. Like SQS, it delivers in any order, in batches, and again after a lost answer. */
export class Queue {
  readonly messages = new Map<string, Message>()
  readonly #spec: QueueSpec
  readonly #time: VirtualTime
  readonly #draws: Draws
  readonly #lostDeletes: number
  readonly #deduplicated = new Map<string, number>()
  #sent = 0
  #batches = 0

  constructor(spec: QueueSpec, time: VirtualTime, draws: Draws, lostDeletes: number) {
    this.#spec = spec
    this.#time = time
    this.#draws = draws
    this.#lostDeletes = lostDeletes
  }

  /** Sends a message. It is delivered no sooner than `delay` milliseconds from now. */
  send(
    body: string,
    {
      delay = 0,
      group,
      once = '',
      attributes,
    }: {
      delay?: number
      group?: string | undefined
      once?: string
      attributes?: Attributes | undefined
    } = {},
  ): void {
    const { now } = this.#time
    if (once !== '') {
      const earlier = this.#deduplicated.get(once)
      if (earlier !== undefined && now - earlier < deduplicationMilliseconds) return
      this.#deduplicated.set(once, now)
    }
    this.#sent += 1
    const id = `${this.#spec.name}-${this.#sent}`
    this.messages.set(id, {
      id,
      body,
      attributes,
      group,
      sentAt: now,
      firstReceivedAt: undefined,
      visibleAt: now + delay,
      receives: 0,
    })
    this.#pollAfter(delay + this.#draws.below(`${this.#spec.name} poll`, maxPollMilliseconds))
  }

  changeVisibility(id: string, seconds: number): void {
    const message = this.messages.get(id)
    if (message === undefined) return
    message.visibleAt = this.#time.now + seconds * 1000
    this.#pollAfter(seconds * 1000)
  }

  #pollAfter(milliseconds: number): void {
    this.#time.after(milliseconds, () => void this.#poll())
  }

  async #poll(): Promise<void> {
    const { name, isFifo, maxReceives, invoke, received, gone } = this.#spec
    const { now } = this.#time
    const all = [...this.messages.values()]
    // A group stays blocked until its messages in flight are gone or visible again.
    const inFlight = all.filter(({ visibleAt, receives }) => visibleAt > now && receives > 0)
    const blocked = new Set(inFlight.map(({ group }) => group).filter((group) => group !== undefined))
    const visible = all
      .filter(({ visibleAt, group }) => visibleAt <= now && !blocked.has(group ?? ''))
      .map((message) => ({ message, place: isFifo ? 0 : this.#draws.number(`${name} order`) }))
      .sort((a, b) => a.place - b.place)
      .map(({ message }) => message)
    const batch = visible.slice(0, batchSize)
    if (batch.length === 0) return
    for (const message of batch) {
      message.receives += 1
      message.firstReceivedAt ??= now
      message.visibleAt = now + visibilityMilliseconds
      if (message.receives <= maxReceives) continue
      this.messages.delete(message.id)
      gone(message, 'too many receives')
    }
    for (const message of batch) received?.(message)
    this.#batches += 1
    const stream = `${name} ${this.#batches}`
    const answer = await invoke(toSqsEvent(batch), stream)
    this.#settle(batch, answer, stream)
    // Polls again for messages that did not fit into this batch, or whose group was blocked.
    if (this.messages.size > 0) this.#pollAfter(0)
  }

  #settle(batch: readonly Message[], answer: SQSBatchResponse | undefined, stream: string): void {
    const failed = new Set(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    const isLost = answer === undefined || this.#draws.happens(`${stream} delete`, this.#lostDeletes)
    for (const message of batch) {
      if (!this.messages.has(message.id)) continue
      if (isLost || failed.has(message.id)) this.#pollAfter(message.visibleAt - this.#time.now)
      else {
        this.messages.delete(message.id)
        this.#spec.gone(message, 'deleted')
      }
    }
  }
}
