import type { Options } from '../part.ts'
import type { Table } from '../report/table.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { measureCodeFlow } from './code-flow.ts'
import { measurePasswordSignIn } from './password-sign-in.ts'
import { measurePostgres } from './postgres.ts'

/**
 * Measures peers that do the same work in another way: part 5. Other peers are beside ours in other parts.
 */
export async function measurePeers(options: Options, stack: BenchStack): Promise<Table[]> {
  return [
    await measureCodeFlow(options, stack),
    await measurePasswordSignIn(options, stack),
    await measurePostgres(options),
  ]
}
