import type { BenchStack } from '../stack/start-bench-stack.ts'
import type { Options, Table } from '../table.ts'
import { measureCodeFlow } from './code-flow.ts'
import { measurePasswords } from './password.ts'
import { measurePostgres } from './postgres.ts'

/** Measures peers that do the same work, each by its own means. */
export const measurePeers = async (options: Options, stack: BenchStack): Promise<Table[]> => [
  await measureCodeFlow(),
  await measurePasswords(options, stack),
  await measurePostgres(options),
]
