import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { anyPorts, startCommand } from '../../support/start-command.ts'
import { newDirectory } from '../../support/new-directory.ts'
import { preload } from '../../support/preload.ts'

/** Starts a local stack, which must fail; resolves with its error output. */
async function refuse(options: string[], environment?: NodeJS.ProcessEnv): Promise<string> {
  const attempt = startCommand([...anyPorts, '--no-demo', '--ephemeral', ...options], environment)
  await expect(attempt.ready).rejects.toThrow()
  expect((await attempt.ended).code).toBe(1)
  return attempt.output.error
}

it.each(['--port', '--aws-port', '--page-port'])(
  'npm start says in one line that the port of %s is in use',
  async (option) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    expect(await refuse([option, String(port)])).toBe(
      `port ${port} is taken: stop what uses it, or choose another with ${option} PORT\n`,
    )
    other.close()
  },
  60_000,
)

it.each([
  [['--set', 'exportCap=0'], /exportCap/],
  [['--set', 'nonsense'], /NAME=VALUE/],
  [['--port', 'x'], /not a port/],
  [['--public-url', 'http://login.example.test'], /not an https address/],
  [['--public-url', 'https://login.example.test/path'], /not an https address/],
  [['--aws', 'conflict'], /'conflict' is none of all, conflicts, throttles/],
])(
  'npm start refuses the options %s and names what is wrong',
  async (options, message) => expect(await refuse(options)).toMatch(message),
  60_000,
)

it('npm start says in one line that the disk is full', async () => {
  const line = /^\S+ has less than 100 MB of free space: make some, or start with another --data DIR\n$/
  expect(await refuse([], preload('fs.statfsSync = () => ({ bavail: 1, bsize: 4096 })'))).toMatch(line)
})

const denied = (name: string) =>
  preload(`const { accessSync } = fs
    fs.accessSync = (path, mode) => {
      if (String(path).endsWith('${name}')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
      return accessSync(path, mode)
    }`)

it.each([
  [
    'a data directory that is a file',
    () => 'package.json',
    {},
    /^cannot write \S+package\.json \(EEXIST\): .+ with another --data DIR\n$/,
  ],
  [
    'a data directory below a file',
    () => 'package.json/data',
    {},
    /^cannot write \S+data \(ENOTDIR\): .+\n$/,
  ],
  [
    'a file of another user in the data directory',
    () => withFile('lock.sqlite'),
    denied('lock.sqlite'),
    /^cannot write \S+lock\.sqlite \(EACCES\): .+chown.+\n$/,
  ],
  [
    'a dist of another user',
    () => newDirectory(),
    denied('dist'),
    /^cannot write \S+dist \(EACCES\): .+chown.*\n$/,
  ],
])(
  'npm start says in one line that it cannot write: %s',
  async (_what, directory, environment, line) => {
    const attempt = startCommand([...anyPorts, '--no-demo', '--data', directory()], environment)
    await expect(attempt.ready).rejects.toThrow()
    expect(attempt.output.error).toMatch(line)
  },
  60_000,
)

function withFile(name: string): string {
  const directory = newDirectory()
  writeFileSync(join(directory, name), '')
  return directory
}

it('npm start is ready with the AWS settings of a laptop, and not before the demo data is whole', async () => {
  const home = newDirectory()
  const data = newDirectory()
  mkdirSync(join(home, '.aws'))
  writeFileSync(
    join(home, '.aws/config'),
    '[default]\nuse_fips_endpoint = true\nuse_dualstack_endpoint = true\n',
  )
  const stack = startCommand([...anyPorts, '--data', data], {
    HOME: home,
    AWS_USE_FIPS_ENDPOINT: 'true',
    AWS_USE_DUALSTACK_ENDPOINT: 'true',
    AWS_PROFILE: 'of-nobody',
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9',
    AWS_ENABLE_ENDPOINT_DISCOVERY: 'true',
    AWS_ACCOUNT_ID_ENDPOINT_MODE: 'required',
    AWS_RETRY_MODE: 'nonsense',
    AWS_MAX_ATTEMPTS: 'many',
    AWS_DEFAULTS_MODE: 'nonsense',
  })
  const url = await stack.ready
  expect(JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8'))).toMatchObject({ sent: true })
  const { queues } = (await (await fetch(`${url}/_local/queues`)).json()) as {
    queues: Record<'visible' | 'inFlight' | 'delayed', number>[]
  }
  expect(queues.length).toBeGreaterThan(15)
  for (const { visible, inFlight, delayed } of queues) expect(visible + inFlight + delayed).toBe(0)
  await stack.signal('SIGTERM')
}, 180_000)
