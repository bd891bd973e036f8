// Measures what the service costs and how fast it is. README.md in this folder says what each part measures.
//   npm run bench [-- --short] [--part NAME ...] [--check] [--json FILE] [--write] [--samples N]
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureBundles } from './bundles.ts'
import { measureColdStarts } from './cold-start/cold-starts.ts'
import { checkLines } from './lines.ts'
import { type BenchStack, startBenchStack } from './stack/start-bench-stack.ts'
import { describeMachine, type Options, type Table, toMarkdown, writeDocuments } from './table.ts'
import '../support/silence-log.ts'

type Part = (options: Options, stack: BenchStack) => Promise<Table[]>

/** Some parts are imported only when they run, because modules of shared/ read the environment on load. */
const parts: Record<string, Part> = {
  operations: async (_options, stack) =>
    (await import('./operations/measure-operations.ts')).measureOperations(stack),
  bundles: measureBundles,
  growth: async (options) => (await import('./growth/growth.ts')).measureGrowth(options),
  'cold-starts': measureColdStarts,
  warm: async (options, stack) => (await import('./peers/warm.ts')).measureWarm(options, stack),
  peers: async (options, stack) => (await import('./peers/peers.ts')).measurePeers(options, stack),
}
/** The parts of a short run. They install no packages, and may run on a busy machine. */
const shortParts = ['operations', 'bundles', 'growth']

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    part: { type: 'string', multiple: true, default: [] },
    check: { type: 'boolean', default: false },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    samples: { type: 'string' },
  },
})
const unknown = values.part.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`there is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`)
const { short } = values
const options: Options = { short, samples: Number(values.samples ?? (short ? 1 : 20)) }
const wanted = values.part.length > 0 ? values.part : short ? shortParts : Object.keys(parts)
const machine = describeMachine(options.samples)
console.log(`${machine}\n`)

const tables: Table[] = []
const print = ({ title, notes, rows }: Table) =>
  console.log([`## ${title}`, ...notes, '', toMarkdown(rows), ''].join('\n'))
const stack = await startBenchStack()
try {
  for (const [name, run] of Object.entries(parts).filter(([part]) => wanted.includes(part))) {
    process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${name}\n`)
    for (const table of await run(options, stack)) {
      tables.push(table)
      print(table)
    }
  }
} finally {
  await stack.close()
}
const { table: lines, broken } = checkLines(tables, short)
print(lines)
tables.push(lines)
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ machine, short, tables }, null, 1)}\n`)
if (values.write) writeDocuments(tables)
if (values.check && broken.length > 0) {
  console.error(`broken: ${broken.join('; ')}`)
  process.exitCode = 1
}
