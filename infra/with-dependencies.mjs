// Runs a script of this project after making sure that its dependencies are installed, so that `npm start`
// and `npm test` work on a fresh clone. Plain JavaScript on purpose: it runs under whatever Node the host has
// (20 or later), installs the pinned one, and hands over to it.
//
//   node infra/with-dependencies.mjs SCRIPT [ARGUMENT ...]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setInterval } from 'node:timers'

const root = new URL('..', import.meta.url).pathname
const modules = join(root, 'node_modules')
const stamp = join(modules, '.installed-lock.json')
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')

// The stamp is the lock file as it was when `npm ci` last finished: a changed lock, or an install that was cut short, runs it again.
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.error('installing the pinned dependencies (npm ci) ...')
  // npm is started through its own script when it started us: the same npm, on every platform.
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  const result = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (result.status !== 0) process.exit(result.status ?? 1)
  writeFileSync(stamp, lock)
}

const bin = join(modules, '.bin')
const child = spawn(join(bin, 'node'), process.argv.slice(2), {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
})
// The child decides when it has stopped; this process only passes the wish on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// npm may be killed without a word to us, and must not leave us running.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 200).unref()
}
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
