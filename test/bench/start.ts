import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { interleave, median, type Options, round, type Table } from './table.ts'

const ports = ['--port', '0', '--aws-port', '0', '--page-port', '0']

/** Commands, each with what it prints when it is ready; without that, when it has ended. */
const commands = [
  {
    name: 'npm start, warm clone',
    args: ['infra/with-dependencies.mjs', 'infra/local/start.ts', '--ephemeral', ...ports],
    ready: 'ready http',
  },
  { name: 'Node.js and nothing else', args: ['--eval', '0'], ready: undefined },
]

/** Measures how long the local stack takes until it answers, beside a start of Node.js. */
export async function measureStart({ samples }: Options): Promise<Table[]> {
  const medians = (await interleave(commands, samples, timeUntilReady)).map(median)
  const rows = commands.map(({ name }, i) => ({
    command: name,
    'ready ms': round(medians[i] ?? Number.NaN, 3),
    '× Node.js': round((medians[i] ?? Number.NaN) / (medians.at(-1) ?? Number.NaN), 3),
  }))
  const notes = ['Bundles and dependencies are there already; the demo data is sent.']
  return [{ name: 'start', title: 'The start of the local stack', notes, rows }]
}

async function timeUntilReady({ args, ready }: (typeof commands)[number]): Promise<number> {
  const startedAt = performance.now()
  const isOuter = ([name]: [string, unknown]) => !name.startsWith('AWS_') && name !== 'TABLE_NAME'
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '../..'),
    // Environment variables that the benchmark itself has set would change what it measures.
    env: Object.fromEntries(Object.entries(process.env).filter(isOuter)),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  const said = Promise.withResolvers<undefined>()
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (ready !== undefined && output.includes(ready)) said.resolve(undefined)
  })
  await Promise.race([said.promise, ended])
  if (ready !== undefined && !output.includes(ready)) throw new Error('the local stack ended')
  const milliseconds = performance.now() - startedAt
  child.kill('SIGTERM')
  await ended
  return milliseconds
}
