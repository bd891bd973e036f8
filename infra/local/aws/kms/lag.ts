import type { Quirks } from '../../quirks.ts'

/**
 * A change of a KMS key that callers see late (KMS Developer Guide, "Eventual consistency"). `exists`: at
 * first, a new key is not found. `tags`: at first, IAM conditions use the old tags; ListResourceTags has no
 * delay. `state`: at first, callers see the old state, or `Creating` for a new key.
 */
export type LaggingChange = 'exists' | 'tags' | 'state'

/** The longest time that a change stays invisible (KMS Developer Guide, "Eventual consistency"). */
export const maxLagMilliseconds = 5 * 60_000

/** Picks a random delay in milliseconds after which a change becomes visible; 0 without `late-keys`. */
export const drawLag = (quirks: Quirks, change: LaggingChange): number =>
  quirks.has('late-keys')
    ? Math.round((quirks.draw('late-keys', change) * maxLagMilliseconds) / quirks.speed)
    : 0

/** A value whose changes become visible late. */
export class LaggingValue<Value> {
  readonly #changes: { value: Value; visibleAt: number }[]

  constructor(value: Value) {
    this.#changes = [{ value, visibleAt: -Infinity }]
  }

  change(value: Value, lagMilliseconds: number): void {
    const visible = this.#changes.findLastIndex(({ visibleAt }) => visibleAt <= Date.now())
    this.#changes.splice(0, visible)
    // If a change was visible at once, it stays visible, even if a test turns the clock back.
    const visibleAt = lagMilliseconds > 0 ? Date.now() + lagMilliseconds : -Infinity
    this.#changes.push({ value, visibleAt })
  }

  get visible(): Value {
    const change = this.#changes.findLast(({ visibleAt }) => visibleAt <= Date.now()) ?? this.#changes[0]
    if (change === undefined) throw new Error('a lagging value always has a first value')
    return change.value
  }
}
