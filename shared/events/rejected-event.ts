/**
 * An event that can never be applied: it goes to the dead-letter queue at once, whole, with this reason, and changes
 * nothing. The reason names fields and rules, never contents.
 */
export class RejectedEvent extends Error {
  override readonly name = 'Refused'
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

/**
 * An event that comes too early, such as one about a user who is not registered yet: it is retried a few times, and then
 * goes to the dead-letter queue with this reason, from where a redrive applies it.
 */
export class OutOfOrderEvent extends Error {
  override readonly name = 'TooEarly'
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}
