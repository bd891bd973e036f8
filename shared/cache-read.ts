/** When a value that was read is used again. */
interface CacheOptions<Value> {
  /** Maximum age of the value in milliseconds, counted from the start of its read. */
  maxAge: () => number
  /**
   * Reads anew until it was asked for this often within this time, so that only what is in great demand is
   * ever out of date. Default: the value is used again at once.
   */
  onlyAfter?: { requests: number; withinMilliseconds: number }
  /** Whether a value may be used again. Default: any. */
  keeps?: (value: Value) => boolean
}

/** A read whose value is used again for a moment. */
export interface CachedRead<Value> {
  get: () => Promise<Value>
  /** Drops the value, which has turned out to be out of date. */
  forget: () => void
}

/**
 * Keeps the value of a read in memory for a moment, so that a function reads a hot item less often than it is
 * asked for it. The age goes by the wall clock, because the monotonic clocks of a frozen function stand
 * still. A read that fails is not kept.
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
