interface CacheOptions<Value> {
  /** Maximum age of the value in milliseconds, counted from the start of its read. */
  maxAge: () => number
  /**
   * A call of `get` may reuse the value only if there were at least `requests` calls in the last
   * `withinMilliseconds`. By default, every call may reuse the value.
   */
  onlyAfter?: { requests: number; withinMilliseconds: number }
  /** Whether a value may be kept for later calls. By default, every value may be kept. */
  keeps?: (value: Value) => boolean
}

/** A read whose value is reused for a short time. */
export interface CachedRead<Value> {
  get: () => Promise<Value>
  /** Drops the value; call it when the value has turned out to be out of date. */
  forget: () => void
}

/**
 * Keeps the value of a read in memory for a short time, so that not every request reads a hot item. The wall
 * clock measures the value's age, because monotonic clocks stand still while a function is frozen. A failed
 * read is not kept.
 */
export function cacheRead<Value>(
  read: () => Promise<Value>,
  { maxAge, onlyAfter = { requests: 0, withinMilliseconds: Infinity }, keeps }: CacheOptions<Value>,
): CachedRead<Value> {
  const { requests, withinMilliseconds } = onlyAfter
  const latest: number[] = []
  let kept: { value: Promise<Value>; readAt: number } | undefined

  function isInDemand(now: number): boolean {
    latest.push(now)
    return latest.length > requests && now - (latest.shift() ?? now) < withinMilliseconds
  }

  async function get(): Promise<Value> {
    const now = Date.now()
    const isFresh = kept !== undefined && now >= kept.readAt && now - kept.readAt < maxAge()
    if (!isInDemand(now) || !isFresh || kept === undefined) kept = { value: read(), readAt: now }
    const entry = kept
    const forgetEntry = () => {
      if (kept === entry) kept = undefined
    }
    try {
      const value = await entry.value
      if (keeps?.(value) === false) forgetEntry()
      return value
    } catch (error) {
      forgetEntry()
      throw error
    }
  }

  return { get, forget: () => (kept = undefined) }
}
