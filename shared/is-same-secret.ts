import { timingSafeEqual } from 'node:crypto'

/** Whether two texts are the same. Texts of equal length are compared in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
