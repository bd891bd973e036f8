// Installs the dependencies if needed, then runs a script of this project, so that `npm start` and `npm test`
// work on a fresh clone. Written in plain JavaScript, because it runs under the host's Node (20 or later);
// the script itself runs under the Node version that the lock file pins.
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

// The stamp is a copy of the lock file that is made when `npm ci` finishes. It is missing after an
// interrupted install, and differs after the lock file has changed. In both cases `npm ci` runs again.
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.error('installing the pinned dependencies (npm ci) ...')
  // npm_execpath is the path of npm's own script if npm started this process. Running that script works on
  // every platform.
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
// Passes signals on to the child, which decides when to exit.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// npm can be killed without sending a signal (SIGKILL). A changed parent process id shows that, and then the
// child must stop too.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 200).unref()
}
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
