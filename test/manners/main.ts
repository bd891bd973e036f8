// Runs every flow against a local stack with all the bad manners of AWS, seed by seed: npm run test:manners.
import { Command, InvalidArgumentError } from 'commander'
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

const command = new Command('npm run test:manners --')
  .description(
    'Runs test/flows with the manners of AWS, and fails on an answer of 500, a fault or a dead letter.',
  )
  .option('--seeds <number>', 'how many seeds', parseCount, 1)
  .option('--first <seed>', 'the first seed', parseCount, 1)
  .option('--manners <names>', 'all, or some of those of npm start -- --aws', 'all')
  .argument('[files...]', 'the flows to run (default: all)')
  .parse()
const { seeds, first, manners } = command.opts<{ seeds: number; first: number; manners: string }>()
const files = command.args.length === 0 ? ['test/flows'] : command.args

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('not a number.')
  return Number(text)
}

/** Runs the flows with one seed, and resolves with the exit code and everything that was written. */
function runFlows(seed: number): Promise<{ code: number; output: string }> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--project', 'manners', ...files], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', STACK_MANNERS: `${manners},seed=${seed},speed=60` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() })),
  )
}

let failed = 0
for (let seed = first; seed < first + seeds; seed += 1) {
  const started = Date.now()
  const { code, output } = await runFlows(seed)
  const counts = /^--aws \S+: (.+)$/m.exec(output)?.[1] ?? 'the stack did not stop in order'
  const tests = /^ *Tests +(.+)$/m.exec(output)?.[1] ?? 'no tests'
  const seconds = Math.round((Date.now() - started) / 1000)
  console.log(`seed ${seed} ${code === 0 ? 'ok' : 'FAILED'}: ${counts}; tests: ${tests}; ${seconds} s`)
  if (code === 0) continue
  failed += 1
  console.log(
    `${output}\nrepeat it with: npm run test:manners -- --first ${seed} --manners ${manners} ${files.join(' ')}`,
  )
}
process.exit(failed === 0 ? 0 : 1)
