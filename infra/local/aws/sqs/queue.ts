import { randomUUID } from 'node:crypto'
import type { Quirks } from '../../quirks.ts'
import type { QueueModel } from '../../model.ts'
import { compilePolicies, type CompiledPolicy } from '../iam/policy.ts'
import { AwsError } from '../wire/http-messages.ts'
import type { MessageStore } from './message-store.ts'
import { createReceipt, readReceipt, type Message, type MessageAttribute } from './message.ts'
import { drawLateness, drawRepetition } from './queue-quirks.ts'

/** A message to send. */
export interface NewMessage {
  body: string
  attributes?: Record<string, MessageAttribute>
  groupId?: string | undefined
  deduplicationId?: string | undefined
  senderId: string
}

/** How long a FIFO queue drops further messages with the same deduplication id: five minutes, as in SQS. */
const deduplicationMilliseconds = 5 * 60 * 1000
/** Maximum number of messages that a FIFO queue considers for delivery: its oldest ones (SQS quota). */
const scannedMessages = 120_000
const maxTimerMilliseconds = 2 ** 31 - 1

/** A message can be received, has been received and is hidden, or was sent with a delay that is not over. */
type MessageState = 'visible' | 'inFlight' | 'delayed'

function stateOf({ visibleAt, receipt }: Message, now: number): MessageState {
  if (visibleAt <= now) return 'visible'
  return receipt === null ? 'delayed' : 'inFlight'
}

/** An SQS queue. Its messages are kept in memory and also in the store, so that they survive a restart. */
export class Queue {
  model: QueueModel
  policy: CompiledPolicy
  /** The dead-letter queue, to which messages move after too many receives. `openQueues` sets it. */
  deadLetter: { queue: Queue; maxReceiveCount: number } | undefined
  readonly #store: MessageStore
  readonly #quirks: Quirks
  /** The messages keyed by id, oldest first. */
  readonly #messages: Map<string, Message>
  /** A FIFO queue's messages of the last five minutes, keyed by deduplication id, oldest first. */
  readonly #sent: Map<string, Message>
  /** Ids of received messages that will be delivered once more, even if they are deleted. */
  readonly #copies = new Set<string>()
  /** Wake-up functions of the receivers that wait for a message; called after every change of the queue. */
  readonly #waiting = new Set<() => void>()

  constructor(model: QueueModel, store: MessageStore, quirks: Quirks) {
    this.model = model
    this.policy = compilePolicies(model.policies, `queue ${model.name}`)
    this.#store = store
    this.#quirks = quirks
    const stored = store.list(model.name)
    this.#messages = new Map(stored.map((message) => [message.id, message]))
    this.#sent = new Map(stored.map((message) => [message.deduplicationId ?? '', message]))
  }

  /** Changes the queue's attributes. Messages that were sent before keep their delay. */
  configure(model: QueueModel): void {
    this.policy = compilePolicies(model.policies, `queue ${model.name}`)
    this.model = model
  }

  /** Deletes all messages, because the queue is deleted. */
  clear(): void {
    for (const message of this.#messages.values()) this.#remove(message)
    this.#wake()
  }

  /** Adds a message to the queue. A FIFO queue drops a duplicate and returns the first message. */
  send(message: NewMessage): Message {
    const { name, fifo, delaySeconds } = this.model
    const now = Date.now()
    const deduplicationId = fifo ? (message.deduplicationId ?? refuseWithoutId()) : null
    const first = deduplicationId === null ? undefined : this.#findSent(deduplicationId, now)
    if (first !== undefined) return first
    const lateness = fifo ? 0 : drawLateness(this.#quirks, name)
    const sent: Message = {
      position: this.#store.takePosition(),
      id: randomUUID(),
      body: message.body,
      attributes: message.attributes ?? {},
      senderId: message.senderId,
      sentAt: now,
      visibleAt: now + 1000 * delaySeconds + lateness,
      receiveCount: 0,
      firstReceivedAt: null,
      receipt: null,
      groupId: message.groupId ?? null,
      deduplicationId,
      deadLetterSourceArn: null,
    }
    if (deduplicationId !== null) this.#sent.set(deduplicationId, sent)
    this.#put(sent)
    this.#wake()
    return sent
  }

  /** Receives up to `limit` messages and hides them. Waits up to `waitMilliseconds` for the first one. */
  async receive(
    limit: number,
    options: { visibilitySeconds?: number | undefined; waitMilliseconds: number; signal: AbortSignal },
  ): Promise<Message[]> {
    const deadline = Date.now() + options.waitMilliseconds
    while (!options.signal.aborted) {
      // Reads the clock before the messages. A message that becomes visible in between is then not missed.
      const now = Date.now()
      const messages = this.#receiveNow(limit, options.visibilitySeconds)
      if (messages.length > 0 || now >= deadline) return messages
      let until = deadline
      for (const { visibleAt } of this.#messages.values())
        if (visibleAt > now && visibleAt < until) until = visibleAt
      await this.#change(until - now, options.signal)
    }
    return []
  }

  /** Deletes the message that a receipt handle names. Deleting it twice is no error. */
  delete(receiptHandle: string): void {
    const message = this.#messages.get(readReceipt(receiptHandle))
    if (message?.receipt === receiptHandle) {
      if (this.#copies.delete(message.id)) return
      this.#remove(message)
      // Wakes the receivers, because the deleted message may have blocked its FIFO group.
      this.#wake()
    } else if (message !== undefined && this.model.fifo) {
      throw new AwsError('InvalidParameterValue', 'The receipt handle has expired.')
    }
  }

  /** Whether the message of a receipt handle is hidden since it was received with that handle. */
  isInFlight(receiptHandle: string): boolean {
    const message = this.#messages.get(readReceipt(receiptHandle))
    return message?.receipt === receiptHandle && stateOf(message, Date.now()) === 'inFlight'
  }

  /** Hides a received message for this many seconds from now; 0 makes it visible at once. */
  changeVisibility(receiptHandle: string, seconds: number): void {
    const message = this.#messages.get(readReceipt(receiptHandle))
    if (message === undefined)
      throw new AwsError('InvalidParameterValue', 'The message of this receipt handle does not exist.')
    if (!this.isInFlight(receiptHandle)) {
      const queryCode = 'AWS.SimpleQueueService.MessageNotInflight'
      throw new AwsError('MessageNotInflight', 'The message is not in flight.', { queryCode })
    }
    this.#put({ ...message, visibleAt: Date.now() + 1000 * seconds })
    this.#wake()
  }

  counts(): Record<MessageState, number> {
    const now = Date.now()
    this.#removeOverdue(now)
    const counts = { visible: 0, inFlight: 0, delayed: 0 }
    for (const message of this.#messages.values()) counts[stateOf(message, now)] += 1
    return counts
  }

  /** Returns the newest messages for display, without receiving them. */
  newest(limit: number): Message[] {
    return [...this.#messages.values()].sort((one, other) => other.sentAt - one.sentAt).slice(0, limit)
  }

  #receiveNow(limit: number, visibilitySeconds = this.model.visibilityTimeoutSeconds): Message[] {
    // Reads the clock once, so that no message becomes overdue between the removal and the listing.
    const now = Date.now()
    this.#removeOverdue(now)
    return this.#listReceivable(now, limit).map((message) =>
      this.#put({
        ...message,
        visibleAt: now + (this.#drawRepetition(message.id) ?? visibilitySeconds * 1000),
        receipt: createReceipt(message.id),
        receiveCount: message.receiveCount + 1,
        firstReceivedAt: message.firstReceivedAt ?? now,
      }),
    )
  }

  /**
   * Lists the messages that can be received, in the order in which they are received; in a FIFO queue, group
   * by group.
   */
  #listReceivable(now: number, limit: number): Message[] {
    const all = [...this.#messages.values()]
    if (!this.model.fifo)
      return all
        .filter(({ visibleAt }) => visibleAt <= now)
        .sort((one, other) => one.visibleAt - other.visibleAt)
        .slice(0, limit)
    // A message group of a FIFO queue is blocked while any of its messages is in flight.
    const inFlight = all.filter((message) => stateOf(message, now) === 'inFlight')
    const blocked = new Set(inFlight.map(({ groupId }) => groupId))
    const free = all
      .slice(0, scannedMessages)
      .filter(({ groupId, visibleAt }) => visibleAt <= now && !blocked.has(groupId))
    return [...Map.groupBy(free, ({ groupId }) => groupId).values()].flat().slice(0, limit)
  }

  #drawRepetition(id: string): number | undefined {
    const { name, fifo } = this.model
    const milliseconds = fifo ? undefined : drawRepetition(this.#quirks, name)
    if (milliseconds === undefined) this.#copies.delete(id)
    else this.#copies.add(id)
    return milliseconds
  }

  /** Deletes expired messages. Moves messages that were received too often to the dead-letter queue. */
  #removeOverdue(now: number): void {
    const { arn: deadLetterSourceArn, fifo, retentionSeconds } = this.model
    for (const message of this.#messages.values()) {
      const { sentAt, visibleAt, receipt, receiveCount } = message
      if (sentAt <= now - retentionSeconds * 1000) this.#remove(message)
      else if (
        this.deadLetter !== undefined &&
        visibleAt <= now &&
        receipt !== null &&
        receiveCount >= this.deadLetter.maxReceiveCount
      ) {
        this.#remove(message)
        const { queue } = this.deadLetter
        // A move to a FIFO dead-letter queue resets the message's age; a move to a standard queue does not.
        const moved = { visibleAt: now, receipt: null, deadLetterSourceArn, sentAt: fifo ? now : sentAt }
        queue.#put({ ...message, ...moved })
        queue.#wake()
      }
    }
  }

  #put(message: Message): Message {
    this.#messages.set(message.id, message)
    this.#store.save(this.model.name, message)
    return message
  }

  #remove(message: Message): void {
    this.#messages.delete(message.id)
    this.#store.remove(message)
  }

  /** Finds the message that was sent with a deduplication id within the last five minutes. */
  #findSent(deduplicationId: string, now: number): Message | undefined {
    for (const [id, { sentAt }] of this.#sent) {
      if (sentAt > now - deduplicationMilliseconds) break
      this.#sent.delete(id)
    }
    return this.#sent.get(deduplicationId)
  }

  /** Resolves when the queue changes, the time is over or the signal aborts, whichever happens first. */
  #change(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        this.#waiting.delete(finish)
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = setTimeout(finish, Math.min(milliseconds, maxTimerMilliseconds))
      signal.addEventListener('abort', finish)
      this.#waiting.add(finish)
    })
  }

  /** Wakes receivers after the current synchronous work, so that messages sent together arrive together. */
  #wake(): void {
    setImmediate(() => this.#waiting.forEach((finish) => finish()))
  }
}

function refuseWithoutId(): never {
  throw new AwsError('InvalidParameterValue', 'The message needs a MessageDeduplicationId.')
}
