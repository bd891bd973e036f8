/** What was read of a tree does not fit together, because another worker is writing it: to be read again. */
export class StaleReadError extends Error {
  override readonly name = 'StaleReadError'
}
