import { randomUUID } from 'node:crypto'
import type { QueueModel } from '../../model.ts'
import { compilePolicies, type CompiledPolicy } from '../iam/policy.ts'
import { AwsError } from '../wire/aws-error.ts'
import type { MessageStore } from './message-store.ts'
import type { Message, MessageAttribute, MessageRecord } from './message.ts'
import { chooseDeduplicationId, Deduplication } from './deduplication.ts'
import { createReceipt, readReceipt } from './receipt.ts'
import { createFifoShelf, createStandardShelf, type Shelf } from './shelf.ts'
import { Waiters } from './waiters.ts'

/** What a sender gives. */
export interface NewMessage {
  body: string
  attributes?: Record<string, MessageAttribute>
  traceHeader?: string | undefined
  delaySeconds?: number | undefined
  groupId?: string | undefined
  deduplicationId?: string | undefined
  senderId: string
}

/** The settings that SetQueueAttributes may change. */
export interface QueueSettings {
  visibilityTimeoutSeconds: number
  delaySeconds: number
  retentionSeconds: number
  receiveWaitSeconds: number
  contentBasedDeduplication: boolean
}

/** One queue. Messages live in memory, the store follows; those that were in flight when the process died are visible again. */
export class Queue {
  readonly model: QueueModel
  readonly policy: CompiledPolicy
  readonly settings: QueueSettings
  readonly createdAt = Date.now()
  /** Where messages go that were received too often; set once all queues exist. */
  deadLetter: { queue: Queue; maxReceiveCount: number } | undefined
  readonly #messages = new Map<string, Message>()
  readonly #counts = { visible: 0, delayed: 0, inFlight: 0 }
  readonly #waiters: Waiters
  readonly #store: MessageStore
  readonly #nextSequence: () => string
  readonly #shelf: Shelf
  /** Of FIFO queues only. */
  readonly #deduplication: Deduplication | undefined

  constructor(model: QueueModel, store: MessageStore, nextSequence: () => string) {
    this.model = model
    this.policy = compilePolicies(model.policies, `queue ${model.name}`)
    this.settings = { ...model, receiveWaitSeconds: 0 }
    this.#store = store
    this.#nextSequence = nextSequence
    this.#shelf = model.fifo ? createFifoShelf() : createStandardShelf()
    this.#deduplication = model.fifo ? new Deduplication(model.name, store) : undefined
    this.#waiters = new Waiters(() => this.#shelf.hasVisible())
    for (const record of store.load(model.name)) this.#admit(record)
  }

  /** Numbers of messages by state, and all of them. */
  counts(): { visible: number; delayed: number; inFlight: number } {
    return { ...this.#counts }
  }

  /** What is in the queue, for looking at: nothing is received by it. */
  list(): readonly MessageRecord[] {
    return [...this.#messages.values()]
  }

  /** Takes a message in; one with a known deduplication id is answered like the first, and dropped. */
  send(message: NewMessage): { messageId: string; sequenceNumber: string | undefined } {
    const deduplicationId = this.#deduplication && this.#chooseDeduplicationId(message)
    const known = deduplicationId === undefined ? undefined : this.#deduplication?.find(deduplicationId)
    if (known !== undefined) return known
    const sentAt = Date.now()
    const record: MessageRecord = {
      id: randomUUID(),
      body: message.body,
      attributes: message.attributes ?? {},
      traceHeader: message.traceHeader,
      senderId: message.senderId,
      sentAt,
      availableAt: sentAt + 1000 * (message.delaySeconds ?? this.settings.delaySeconds),
      receiveCount: 0,
      groupId: message.groupId,
      deduplicationId,
      sequenceNumber: this.model.fifo ? this.#nextSequence() : undefined,
    }
    this.#store.atomically(() => {
      this.#store.put(this.model.name, record)
      if (deduplicationId !== undefined && record.sequenceNumber !== undefined)
        this.#deduplication?.remember(deduplicationId, record.id, record.sequenceNumber)
    })
    this.#admit(record)
    return { messageId: record.id, sequenceNumber: record.sequenceNumber }
  }

  /** Receives up to `maximum` messages and hides them; waits up to `waitMilliseconds` for the first one. */
  async receive(
    maximum: number,
    options: { visibilitySeconds?: number | undefined; waitMilliseconds: number; signal: AbortSignal },
  ): Promise<Message[]> {
    const seconds = options.visibilitySeconds ?? this.settings.visibilityTimeoutSeconds
    const deadline = Date.now() + options.waitMilliseconds
    for (;;) {
      if (options.signal.aborted) return []
      const messages = this.take(maximum, seconds)
      const left = deadline - Date.now()
      if (messages.length > 0 || left <= 0) return messages
      await this.#waiters.wait(left, options.signal)
    }
  }

  /** Receives what is there now. */
  take(maximum: number, visibilitySeconds = this.settings.visibilityTimeoutSeconds): Message[] {
    const messages: Message[] = []
    const now = Date.now()
    while (messages.length < maximum) {
      const taken = this.#shelf.take(maximum - messages.length)
      if (taken.length === 0) break
      for (const message of taken) {
        if (this.#isExpired(message, now)) {
          this.#discard(message)
          continue
        }
        message.receiveCount += 1
        message.firstReceivedAt ??= now
        message.receipt = createReceipt(message.id)
        this.#hide(message, 'inFlight', visibilitySeconds * 1000)
        messages.push(message)
      }
    }
    return messages
  }

  /** Deletes what a receipt names; deleting twice is no error. */
  delete(receiptHandle: string): void {
    const message = this.#messages.get(readReceipt(receiptHandle))
    if (message === undefined) return
    if (message.receipt === receiptHandle) return this.#discard(message)
    if (this.model.fifo) throw new AwsError('InvalidParameterValue', 'The receipt handle has expired.')
  }

  /** Hides a received message for so long from now on; 0 returns it at once. */
  changeVisibility(receiptHandle: string, seconds: number): void {
    const message = this.#messages.get(readReceipt(receiptHandle))
    if (message === undefined)
      throw new AwsError(
        'InvalidParameterValue',
        `Value ${receiptHandle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.`,
      )
    if (message.state !== 'inFlight' || message.receipt !== receiptHandle)
      throw new AwsError('MessageNotInflight', 'The message is not in flight.', {
        queryCode: 'AWS.SimpleQueueService.MessageNotInflight',
      })
    this.#hide(message, 'inFlight', seconds * 1000)
  }

  /** Deletes what is older than the retention period. */
  expire(): void {
    const now = Date.now()
    for (const message of this.#messages.values()) if (this.#isExpired(message, now)) this.#discard(message)
  }

  /** Runs `work` so that all that it sends is stored, or nothing. */
  atomically<Result>(work: () => Result): Result {
    return this.#store.atomically(work)
  }

  /** Stops all timers. */
  close(): void {
    for (const message of this.#messages.values()) clearTimeout(message.timer)
  }

  #admit(record: MessageRecord): void {
    const delay = record.availableAt - Date.now()
    const message: Message = {
      ...record,
      state: delay > 0 ? 'delayed' : 'visible',
      receipt: undefined,
      timer: undefined,
    }
    this.#messages.set(message.id, message)
    this.#counts[message.state] += 1
    this.#shelf.add(message)
    if (delay > 0) this.#schedule(message, delay)
    else this.#waiters.wake()
  }

  #hide(message: Message, state: 'inFlight', milliseconds: number): void {
    clearTimeout(message.timer)
    this.#changeState(message, state)
    if (milliseconds > 0) this.#schedule(message, milliseconds)
    else this.#reveal(message)
  }

  #schedule(message: Message, milliseconds: number): void {
    message.timer = setTimeout(() => this.#reveal(message), milliseconds).unref()
  }

  /** Makes a message receivable again, or moves it to the dead-letter queue if it was received too often. */
  #reveal(message: Message): void {
    if (this.deadLetter !== undefined && message.receiveCount >= this.deadLetter.maxReceiveCount)
      return this.#moveToDeadLetter(message, this.deadLetter.queue)
    const wasReceived = message.state === 'inFlight'
    this.#changeState(message, 'visible')
    if (wasReceived) this.#store.put(this.model.name, toRecord(message))
    this.#waiters.wake()
  }

  #moveToDeadLetter(message: Message, target: Queue): void {
    const record: MessageRecord = {
      ...toRecord(message),
      deadLetterSourceArn: this.model.arn,
      availableAt: 0,
      // A FIFO queue counts the retention anew, a standard one goes on.
      sentAt: this.model.fifo ? Date.now() : message.sentAt,
    }
    this.#store.put(target.model.name, record)
    this.#drop(message)
    target.#admit(record)
  }

  #changeState(message: Message, state: Message['state']): void {
    this.#counts[message.state] -= 1
    message.state = state
    this.#counts[state] += 1
    this.#shelf.changed(message)
  }

  #discard(message: Message): void {
    this.#store.remove(message.id)
    this.#drop(message)
  }

  #drop(message: Message): void {
    clearTimeout(message.timer)
    this.#messages.delete(message.id)
    this.#counts[message.state] -= 1
    this.#shelf.remove(message)
    // A FIFO group that was locked by this message may have become free.
    this.#waiters.wake()
  }

  #chooseDeduplicationId({ deduplicationId, body }: NewMessage): string {
    return chooseDeduplicationId(deduplicationId, body, this.settings.contentBasedDeduplication)
  }

  #isExpired(message: Message, now: number): boolean {
    return message.sentAt + this.settings.retentionSeconds * 1000 <= now
  }
}

/** What of a message is stored: all but where it is right now. */
function toRecord(message: Message): MessageRecord {
  return { ...message, state: undefined, receipt: undefined, timer: undefined } as MessageRecord
}
