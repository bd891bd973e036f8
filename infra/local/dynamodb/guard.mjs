// Runs a command for as long as its own standard input stays open, and ends it the moment that closes: a pipe closes
// however its owner dies, SIGKILL included. It stands in a process group of its own, so that Ctrl-C on the terminal
// reaches its owner alone, who then stops things in order. Plain JavaScript on purpose: it must start at once.
//
//   node guard.mjs COMMAND [ARGUMENT ...]
import { spawn } from 'node:child_process'

const [command, ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })

child.on('error', (error) => {
  console.error(error.message)
  process.exit(127)
})
child.on('exit', (code) => process.exit(code ?? 1))

const end = () => child.kill('SIGKILL')
process.stdin.on('end', end).on('error', end).on('close', end).resume()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end)
