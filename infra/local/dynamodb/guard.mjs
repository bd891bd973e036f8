// Runs a command until standard input closes, which happens when this process's owner ends, even by SIGKILL.
// Then deletes the command's temporary directory. This process has its own process group, so Ctrl-C reaches
// only the owner, which stops everything in order. Plain JavaScript, because it must start without delay.
//
//   node guard.mjs TEMPORARY_DIRECTORY COMMAND [ARGUMENT ...]
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'

const [temporary, command, ...args] = process.argv.slice(2)
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }))
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })

child.on('error', (error) => {
  console.error(error.message)
  process.exit(127)
})
child.on('exit', (code) => process.exit(code ?? 1))

const end = () => child.kill('SIGKILL')
process.stdin.on('end', end).on('error', end).on('close', end).resume()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end)
