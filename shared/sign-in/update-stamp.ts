import { createHash } from 'node:crypto'

/**
 * What tells which of two updates of one field stands: the later instant, and of two of the same instant always the same
 * one, whatever the order in which they arrive. Compared as text, in the table and here alike.
 */
export const updateStamp = (at: number, updateId: string): string =>
  `${String(at).padStart(16, '0')}#${createHash('sha256').update(updateId).digest('hex').slice(0, 16)}`
