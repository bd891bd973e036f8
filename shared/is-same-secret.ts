import { timingSafeEqual } from 'node:crypto'

/** Whether two texts are the same, compared in constant time if they are as long as each other. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
