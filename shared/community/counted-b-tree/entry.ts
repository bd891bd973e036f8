/** Where a member stands in a list: by the instant of joining, and by user id among those of one instant. */
export interface BTreePosition {
  /** Epoch milliseconds. */
  joinedAt: number
  userId: number
}

/** A member in a list. Everything here stays as it is for good, so a list is only ever inserted into. */
export interface BTreeEntry extends BTreePosition {
  /** Number of the directory chunk with the member's search text. */
  chunk: number
}

/** Order of a list, earliest first. */
export const comparePositions = (a: BTreePosition, b: BTreePosition): number =>
  a.joinedAt - b.joinedAt || a.userId - b.userId

/** How many things, sorted by `compareWith`, stand before the first one for which it is not negative. */
export function countBefore<T>(sorted: readonly T[], compareWith: (thing: T) => number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareWith(sorted[middle] as T) < 0) low = middle + 1
    else high = middle
  }
  return low
}
