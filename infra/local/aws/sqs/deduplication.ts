import { createHash } from 'node:crypto'
import { AwsError } from '../wire/aws-error.ts'
import type { Duplicate, MessageStore } from './message-store.ts'

/** For how long a FIFO queue drops messages whose deduplication id it has seen. */
const rememberedMilliseconds = 5 * 60 * 1000

/** The deduplication ids that a FIFO queue has seen in the last five minutes. */
export class Deduplication {
  readonly #queueName: string
  readonly #store: MessageStore
  readonly #seen: Map<string, Duplicate>

  constructor(queueName: string, store: MessageStore) {
    this.#queueName = queueName
    this.#store = store
    this.#seen = store.loadDuplicates(queueName)
  }

  /** What the first message with this id was answered, while it is remembered. */
  find(id: string): Duplicate | undefined {
    const known = this.#seen.get(id)
    return known !== undefined && known.expiresAt > Date.now() ? known : undefined
  }

  /** Remembers a message from now on. */
  remember(id: string, messageId: string, sequenceNumber: string): void {
    const now = Date.now()
    // Insertion order is the order of expiry: forgetting starts at the front and stops at the first that still counts.
    for (const [old, { expiresAt }] of this.#seen) {
      if (expiresAt > now) break
      this.#seen.delete(old)
      this.#store.forget(this.#queueName, old)
    }
    const duplicate = { messageId, sequenceNumber, expiresAt: now + rememberedMilliseconds }
    this.#seen.set(id, duplicate)
    this.#store.remember(this.#queueName, id, duplicate)
  }
}

/** The deduplication id of a message: the sender's, or a hash of the body where the queue is set so. */
export function chooseDeduplicationId(
  given: string | undefined,
  body: string,
  contentBased: boolean,
): string {
  if (given !== undefined) return given
  if (contentBased) return createHash('sha256').update(body).digest('hex')
  throw new AwsError(
    'InvalidParameterValue',
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  )
}
