import { runOps } from './command-line.ts'
import { processTerminal } from './terminal.ts'

// Ignores a closed pipe: a reader such as `head` may close it early and does not want the rest of the output.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runOps(process.argv.slice(2), processTerminal)
