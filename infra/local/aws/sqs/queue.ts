import { createHash, randomUUID } from 'node:crypto'
import type { QueueModel } from '../../model.ts'
import { compilePolicies, type CompiledPolicy } from '../iam/policy.ts'
import type { Store } from '../storage/store.ts'
import { AwsError } from '../wire/http-messages.ts'
import { readRow, type MessageTable } from './message-table.ts'
import { createReceipt, readReceipt, type Message, type MessageAttribute } from './message.ts'
import type { QueueManners } from './queue-manners.ts'

/** A message to send. */
export interface NewMessage {
  body: string
  attributes?: Record<string, MessageAttribute>
  delaySeconds?: number | undefined
  groupId?: string | undefined
  deduplicationId?: string | undefined
  senderId: string
}

/** How long a FIFO queue drops messages with a deduplication id that it has seen: five minutes, as in SQS. */
const deduplicationMilliseconds = 5 * 60 * 1000
/** How many messages, from the oldest on, a FIFO queue scans for groups that can be received (SQS quota). */
const scannedMessages = 120_000
const maxTimerMilliseconds = 2 ** 31 - 1

/** An SQS queue. Its messages are rows of the store, so they survive a restart. */
export class Queue {
  readonly model: QueueModel
  readonly policy: CompiledPolicy
  /** The dead-letter queue, to which messages move after too many receives; set once all queues exist. */
  deadLetter: { queue: Queue; maxReceiveCount: number } | undefined
  readonly #store: Store
  readonly #table: MessageTable
  readonly #manners: QueueManners
  /** Ids of the received messages of which one more copy will be delivered. */
  readonly #copies = new Set<string>()
  /** Wake-up functions of the receivers that wait for a message; called after every change of the queue. */
  readonly #waiting = new Set<() => void>()

  constructor(model: QueueModel, store: Store, table: MessageTable, manners: QueueManners) {
    this.model = model
    this.policy = compilePolicies(model.policies, `queue ${model.name}`)
    this.#store = store
    this.#table = table
    this.#manners = manners
  }

  /** Adds a message to the queue. A FIFO queue drops a duplicate and returns the ids of the first message. */
  send(message: NewMessage): { id: string; position: number } {
    const { name: queue, fifo, delaySeconds } = this.model
    const now = Date.now()
    const lateness = fifo ? 0 : this.#manners.drawLateness(queue)
    const deduplicationId = fifo ? this.#chooseDeduplicationId(message) : null
    return this.#store.atomically(() => {
      const first = this.#table.findDuplicate.get({ queue, deduplicationId, now })
      if (first !== undefined) return { id: String(first.id), position: Number(first.position) }
      const id = randomUUID()
      const { lastInsertRowid } = this.#table.insert.run({
        id,
        queue,
        body: message.body,
        attributes: JSON.stringify(message.attributes ?? {}),
        senderId: message.senderId,
        sentAt: now,
        visibleAt: now + 1000 * (message.delaySeconds ?? delaySeconds) + lateness,
        groupId: message.groupId ?? null,
        deduplicationId,
      })
      const position = Number(lastInsertRowid)
      if (deduplicationId !== null) {
        this.#table.forgetDuplicates.run({ now })
        const expiresAt = now + deduplicationMilliseconds
        this.#table.rememberDuplicate.run({ queue, deduplicationId, id, position, expiresAt })
      }
      this.#wake()
      return { id, position }
    })
  }

  /** Receives up to `limit` messages and hides them. Waits up to `waitMilliseconds` for the first one. */
  async receive(
    limit: number,
    options: { visibilitySeconds?: number | undefined; waitMilliseconds: number; signal: AbortSignal },
  ): Promise<Message[]> {
    const deadline = Date.now() + options.waitMilliseconds
    while (!options.signal.aborted) {
      // Taken before the look into the queue, so that what becomes visible after it ends the wait at once.
      const now = Date.now()
      const messages = this.#receiveNow(limit, options.visibilitySeconds)
      if (messages.length > 0 || now >= deadline) return messages
      const { next } = this.#table.nextVisibleAt.get({ queue: this.model.name, now }) ?? {}
      await this.#change(Math.min(deadline, Number(next ?? Infinity)) - now, options.signal)
    }
    return []
  }

  /** Deletes the message that a receipt handle names. Deleting it twice is no error. */
  delete(receiptHandle: string): void {
    const message = this.#find(receiptHandle)
    if (message?.receipt === receiptHandle) {
      if (this.#copies.delete(message.id)) return
      this.#table.remove.run({ position: message.position })
      // Wakes the receivers, because the deleted message may have blocked its FIFO group.
      this.#wake()
    } else if (message !== undefined && this.model.fifo) {
      throw new AwsError('InvalidParameterValue', 'The receipt handle has expired.')
    }
  }

  /** Hides a received message for this many seconds from now; 0 makes it visible at once. */
  changeVisibility(receiptHandle: string, seconds: number): void {
    const now = Date.now()
    const message = this.#find(receiptHandle)
    if (message === undefined)
      throw new AwsError('InvalidParameterValue', 'The message of this receipt handle does not exist.')
    if (message.visibleAt <= now || message.receipt !== receiptHandle) {
      const queryCode = 'AWS.SimpleQueueService.MessageNotInflight'
      throw new AwsError('MessageNotInflight', 'The message is not in flight.', { queryCode })
    }
    this.#table.setVisibleAt.run({ position: message.position, visibleAt: now + 1000 * seconds })
    this.#wake()
  }

  /** Counts the messages of the queue by state. */
  counts(): Record<'visible' | 'inFlight' | 'delayed', number> {
    const now = Date.now()
    this.#removeOverdue(now)
    const counts = this.#table.counts.get({ queue: this.model.name, now })
    return { visible: 0, inFlight: 0, delayed: 0, ...counts }
  }

  /** Returns the newest messages for display, without receiving them. */
  newest(limit: number): Message[] {
    return this.#table.newest.all({ queue: this.model.name, limit }).map(readRow)
  }

  /** Runs `work` as a transaction: either all of its changes to queues are kept, or none. */
  atomically<Result>(work: () => Result): Result {
    return this.#store.atomically(work)
  }

  #receiveNow(limit: number, visibilitySeconds = this.model.visibilityTimeoutSeconds): Message[] {
    return this.#store.atomically(() => {
      // One instant for both: a message that becomes visible in between would be received once too often.
      const now = Date.now()
      this.#removeOverdue(now)
      return this.#listReceivable(now, limit).map(({ id, position }) => {
        const visibleAt = now + (this.#drawRepetition(id) ?? visibilitySeconds * 1000)
        const row = this.#table.receive.get({ position, visibleAt, now, receipt: createReceipt(id) })
        return readRow(row ?? {})
      })
    })
  }

  /** Milliseconds after which another copy of a message that is received now is delivered, if any. */
  #drawRepetition(id: string): number | undefined {
    const { name, fifo } = this.model
    const milliseconds = fifo ? undefined : this.#manners.drawRepetition(name)
    if (milliseconds === undefined) this.#copies.delete(id)
    else this.#copies.add(id)
    return milliseconds
  }

  /** Lists receivable messages in receiving order; in a FIFO queue, group by group. */
  #listReceivable(now: number, limit: number): Message[] {
    const queue = this.model.name
    if (!this.model.fifo) return this.#table.visible.all({ queue, now, limit }).map(readRow)
    const found: Message[] = []
    const last = this.#table.lastScanned.get({ queue, skipped: scannedMessages - 1 })?.position ?? Infinity
    for (const { groupId } of this.#table.freeGroups.all({ queue, now, limit, last })) {
      if (found.length === limit || groupId === undefined) break
      const rows = this.#table.visibleOfGroup.all({ queue, groupId, now, limit: limit - found.length })
      found.push(...rows.map(readRow))
    }
    return found
  }

  /** Deletes expired messages, and moves those received too often to the dead-letter queue. */
  #removeOverdue(now: number): void {
    const { name: queue, arn: sourceArn, fifo, retentionSeconds } = this.model
    this.#table.removeSentBefore.run({ queue, before: now - retentionSeconds * 1000 })
    if (this.deadLetter === undefined) return
    const { queue: target, maxReceiveCount } = this.deadLetter
    const { changes } = this.#table.moveDeadLetters.run({
      queue,
      target: target.model.name,
      sourceArn,
      maxReceiveCount,
      now,
      // Moving to a FIFO dead-letter queue resets the age of a message; moving to a standard one keeps it.
      resetAge: Number(fifo),
    })
    if (Number(changes) > 0) target.#wake()
  }

  #find(receiptHandle: string): Message | undefined {
    const row = this.#table.find.get({ id: readReceipt(receiptHandle), queue: this.model.name })
    return row && readRow(row)
  }

  #chooseDeduplicationId({ deduplicationId, body }: NewMessage): string {
    if (deduplicationId !== undefined) return deduplicationId
    if (this.model.contentBasedDeduplication) return createHash('sha256').update(body).digest('hex')
    const message = 'The message needs a MessageDeduplicationId, or the queue ContentBasedDeduplication.'
    throw new AwsError('InvalidParameterValue', message)
  }

  /** Resolves after the next change of the queue, after this time, or when the signal aborts. */
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

  /**
   * Wakes waiting receivers after the current synchronous work, so that one receives all messages of a batch.
   */
  #wake(): void {
    setImmediate(() => this.#waiting.forEach((finish) => finish()))
  }
}
