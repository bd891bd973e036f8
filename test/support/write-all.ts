import { maxTransactionWrites, transact, type Write } from '../../shared/db/write.ts'

/** Writes any number of items, in transactions of at most the allowed size. */
export async function writeAll(writes: readonly Write[]): Promise<void> {
  for (let start = 0; start < writes.length; start += maxTransactionWrites)
    await transact(writes.slice(start, start + maxTransactionWrites))
}
