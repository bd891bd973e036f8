/** When the value of an earlier read may be used again. */
interface CacheOptions<Value> {
  /** Maximum age of the value in milliseconds, counted from the start of its read. */
  maxAge: () => number
  /**
   * Uses a value again only after this many requests within this time, so that a value in little demand is
   * never out of date. Default: from the second request on.
   */
  onlyAfter?: { requests: number; withinMilliseconds: number }
  /** Whether this value may be used again. Default: every value may. */
  keeps?: (value: Value) => boolean
}

/** A read whose value is used again for a moment. */
export interface CachedRead<Value> {
  get: () => Promise<Value>
  /** Drops the value, which has turned out to be out of date. */
  forget: () => void
}

/**
 * Keeps the value of a read in memory for a moment, so that a function does not read a hot item for every
 * request. The age goes by the wall clock, because the monotonic clocks of a frozen function stand still. The
 * result of a failed read is not kept.
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
