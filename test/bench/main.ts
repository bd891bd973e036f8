// Measures what the service costs and how fast it is, beside peers in the same run:
//   npm run bench [-- --short] [--part NAME ...] [--check] [--json FILE] [--write] [--install] [--samples N]
// README.md in this folder says what each part measures.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { checkLines } from './lines.ts'
import type { Options } from './part.ts'
import { parts } from './parts.ts'
import { describeMachine } from './report/machine.ts'
import { formatTable, type Table } from './report/table.ts'
import { writeDocuments } from './report/write-documents.ts'
import { startBenchStack } from './stack/start-bench-stack.ts'
import '../support/silence-metrics.ts'

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    part: { type: 'string', multiple: true, default: [] },
    check: { type: 'boolean', default: false },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    install: { type: 'boolean', default: false },
    samples: { type: 'string' },
  },
})
const unknown = values.part.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`there is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`)

const options: Options = {
  short: values.short,
  samples: Number(values.samples ?? (values.short ? 1 : 20)),
  install: values.install,
  say: (line) => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`),
}
const machine = describeMachine(options.samples)
console.log(`${machine}\n`)

const tables: Table[] = []
const stack = await startBenchStack()
try {
  for (const [name, { title, inShort, run }] of Object.entries(parts)) {
    const isWanted = values.part.length > 0 ? values.part.includes(name) : !values.short || inShort
    if (!isWanted) continue
    options.say(title)
    for (const table of await run(options, stack)) {
      tables.push(table)
      console.log(formatTable(table))
    }
  }
} finally {
  await stack.close()
}

const { table: lines, broken } = checkLines(tables)
console.log(formatTable(lines))
if (values.json !== undefined)
  writeFileSync(
    values.json,
    `${JSON.stringify({ machine, short: values.short, tables: [...tables, lines] }, null, 1)}\n`,
  )
if (values.write) writeDocuments([...tables, lines], machine)
if (values.check && broken.length > 0) {
  console.error(`broken: ${broken.join('; ')}`)
  process.exitCode = 1
}
