import type { BenchStack } from '../stack/start-bench-stack.ts'
import type { Options, Table } from '../table.ts'
import { measureCodeFlow } from './code-flow.ts'
import { measureLedgers } from './ledgers.ts'
import { measurePasswords } from './passwords.ts'

/** Measures this service beside others that do the same work, each by its own means. */
export const measurePeers = async (options: Options, stack: BenchStack): Promise<Table[]> => [
  await measureCodeFlow(options, stack),
  await measurePasswords(options, stack),
  ...(await measureLedgers(options, stack)),
]
