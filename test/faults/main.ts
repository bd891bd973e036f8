// npm run test:faults: runs random operations with injected faults, and checks every answer of the service.
import { Command, InvalidArgumentError } from 'commander'
import { join } from 'node:path'
import type { SeedOptions } from './simulation/run-seeds.ts'
import { startSharedServer } from '../support/start-shared-server.ts'
import '../support/silence-log.ts'

const command = new Command('npm run test:faults --')
  .description('Runs random histories with faults, and compares every answer with a model.')
  .option('--seeds <number>', 'how many seeds', parseCount, 50)
  .option('--seed <seed>', 'the first seed', parseCount, 1)
  .option('--operations <number>', 'about how many operations a history has', parseCount, 60)
  .option('--trace', 'show the digest of all calls of a seed, which is the same when it runs again')
  .option('--compare <number>', 'how many of the seeds run on DynamoDB Local, too', parseCount, 0)
  .parse()

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('not a number.')
  return Number(text)
}

// Another process serves the table and the keys. If TABLE_NAME is set, that process runs already.
const isServed = process.env['TABLE_NAME'] !== undefined
const server = isServed
  ? undefined
  : await startSharedServer({ script: join(import.meta.dirname, '../support/serve-table.ts') })
const { environment } = ((await server?.described) ?? { environment: {} }) as {
  environment: Record<string, string>
}
Object.assign(process.env, environment, { TZ: 'UTC' })

// Imported only now, because these modules read the environment variables that are set above.
const { runSeeds } = await import('./simulation/run-seeds.ts')
const failed = await runSeeds(command.opts<SeedOptions>())
await server?.stop()
process.exit(failed === 0 ? 0 : 1)
