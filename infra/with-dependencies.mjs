// Installs the dependencies if needed, then runs a script of this project. So `npm start` and `npm test` work
// on a fresh clone, whatever npm settings the laptop has. This file is plain JavaScript, because it runs under
// the host's Node (20 or later). The script runs under the Node version that the lock file pins.
//
//   node infra/with-dependencies.mjs SCRIPT [ARGUMENT ...]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setInterval } from 'node:timers'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')
const stamp = join(modules, '.installed-lock.json')
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')

/** Ends this process with one line that says what is wrong and how to mend it. */
function refuse(line) {
  console.error(line)
  process.exit(1)
}

/**
 * Overrides those settings of npm, in files and variables, by which parts of the project would be missing, or
 * the cause of a failure (`npm run --silent`).
 */
const installOptions = [
  '--include=dev',
  '--include=optional',
  '--bin-links',
  '--package-lock',
  '--no-dry-run',
  '--no-global',
  '--install-strategy=hoisted',
  '--no-audit',
  '--no-fund',
  '--loglevel=notice',
  '--fetch-retry-mintimeout=2000',
]

const { node } = process.versions
if (parseInt(node) < 20)
  refuse(`Node.js ${node} is too old: install version 20 or later (https://nodejs.org)`)

const pinned = findPinnedNode()

/** Finds the Node binary for this machine among the packages of the lock file; undefined if there is none. */
function findPinnedNode() {
  const found = Object.entries(JSON.parse(lock).packages).find(
    ([, { bin, os, cpu }]) => bin?.node && os === process.platform && cpu === process.arch,
  )
  return found && join(root, found[0], found[1].bin.node)
}

// After a successful `npm ci`, the stamp is a copy of the lock file. `npm ci` runs again if the lock file has
// changed since, or if the stamp or Node is missing, as after an interrupted install.
const isInstalled =
  existsSync(stamp) && readFileSync(stamp, 'utf8') === lock && (pinned === undefined || existsSync(pinned))
if (!isInstalled) install()

function install() {
  console.error('installing the pinned dependencies (npm ci), which may take a minute ...')
  // npm_execpath is the path of npm's own script if npm started this process. Running that script works on
  // every platform.
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  const { status, stderr, error } = spawnSync(command, [...args, 'ci', ...installOptions], {
    cwd: root,
    stdio: ['ignore', 2, 'pipe'],
    encoding: 'utf8',
    maxBuffer: Infinity,
  })
  const problems = stderr ?? String(error)
  const [network] = /\b(E[A-Z]*NOTFOUND|EAI_AGAIN|ECONN\w+|E\w+UNREACH|E\w*TIMEDOUT)\b/.exec(problems) ?? []
  const [refusal] = /\b(EACCES|EPERM|EROFS|ENOTDIR)\b/.exec(problems) ?? []
  // Check for ENOSPC even if npm succeeds: npm only warns of files for which there was no space.
  if (problems.includes('ENOSPC'))
    refuse(`there is no space left: make 1 GB free for ${modules} and npm's cache, and start again`)
  if (status !== 0 && network)
    refuse(
      `npm's registry does not answer (${network}): connect to the internet or set npm's proxy, and start again`,
    )
  if (status !== 0 && refusal)
    refuse(
      `npm cannot write ${/\bpath (.+)/.exec(problems)?.[1] ?? modules} (${refusal}): make ${root} and npm's cache your own, for example with chown, and start again`,
    )
  if (status !== 0) refuse(problems)
  // npm skips what is optional without a word if it cannot get it.
  if (pinned !== undefined && spawnSync(pinned, ['--version']).status !== 0)
    refuse(
      `npm has not installed a Node.js that runs (${pinned}): see that npm can reach its registry and that its settings (npm config list) skip no package, and start again`,
    )
  writeFileSync(stamp, lock)
}

/** The Node that runs the script: the pinned one, or on a rare platform the host's if it is new enough. */
function chooseNode() {
  if (pinned !== undefined) return pinned
  const [major, minor] = node.split('.').map(Number)
  if (major > 24 || (major === 24 && minor >= 7)) return process.execPath
  refuse(
    `there is no pinned Node.js for ${process.platform} ${process.arch}: install version 24.7 or later (https://nodejs.org), and start again`,
  )
}

// Nothing on this machine is reached through a proxy (NODE_USE_ENV_PROXY, HTTP_PROXY). The IPv6 address is left
// out: no server here listens on it, and Python's httpx stops at its brackets.
const loopback = '127.0.0.1,localhost'
const noProxy = [process.env.no_proxy ?? process.env.NO_PROXY, loopback].filter(Boolean).join(',')

const bin = join(modules, '.bin')
const child = spawn(chooseNode(), process.argv.slice(2), {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    NO_PROXY: noProxy,
    no_proxy: noProxy,
  },
})
child.on('error', ({ message }) => refuse(`the pinned Node.js does not run: ${message}`))
// Passes signals on to the child, which decides when to exit.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// npm can be killed (SIGKILL) before it passes a signal on. A changed parent process id shows that npm has
// ended, and then the child must stop too.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 200).unref()
}
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
