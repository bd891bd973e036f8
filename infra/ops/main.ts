import { runOps } from './command-line.ts'
import { keepRunning, processTerminal } from './terminal.ts'

for (const stream of [process.stdout, process.stderr]) keepRunning(stream)
const exitCode = await runOps(process.argv.slice(2), processTerminal)
process.exitCode ||= exitCode
