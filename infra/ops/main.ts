import { runOps } from './run.ts'
import { processTerminal } from './terminal.ts'

// The reader of a pipe may have seen enough, like `head`: then the rest is not wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runOps(process.argv.slice(2), processTerminal)
