import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Options } from '../part.ts'
import { interleave, median } from '../report/statistics.ts'
import { round, type Table } from '../report/table.ts'
import { outerEnvironment } from '../support/outer-environment.ts'

const root = join(import.meta.dirname, '../../..')

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

/** Measures how long the local stack takes until it answers. */
export async function measureStart({ samples, say }: Options): Promise<Table[]> {
  say(`${samples} starts`)
  const measured = await interleave(commands, samples, timeUntilReady)
  const base = median(measured.at(-1) ?? [])
  return [
    {
      name: 'start',
      title: 'The start of the local stack',
      notes: [
        `Medians of ${samples}, interleaved. Bundles and dependencies are there already; the demo data is sent.`,
      ],
      rows: commands.map(({ name }, i) => ({
        command: name,
        'ready ms': round(median(measured[i] ?? []), 3),
        '× Node.js': round(median(measured[i] ?? []) / base, 3),
      })),
    },
  ]
}

async function timeUntilReady({ args, ready }: (typeof commands)[number]): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: outerEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  await (ready === undefined ? ended : Promise.race([hasSaid(child.stdout, ready), failed(ended)]))
  const milliseconds = performance.now() - startedAt
  child.kill('SIGTERM')
  await ended
  return milliseconds
}

/** Resolves when a stream has said this. */
const hasSaid = (stream: Readable, text: string): Promise<void> =>
  new Promise((resolve) => {
    let said = ''
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes(text)) resolve()
    })
  })

async function failed(ended: Promise<unknown>): Promise<never> {
  await ended
  throw new Error('the local stack ended')
}
