// Runs a command until standard input closes. Standard input closes when the owner of this process ends, even
// by SIGKILL. This process has its own process group: Ctrl-C reaches only the owner, which then stops
// everything in order. Plain JavaScript, because it must start without delay.
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
