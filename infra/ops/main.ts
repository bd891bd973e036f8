import { runOps } from './command-line.ts'
import { processTerminal } from './terminal.ts'

// The reader of a pipe may close it early, as `head` does. Then the rest of the output is not wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runOps(process.argv.slice(2), processTerminal)
