import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
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

it.each(['--port', '--aws-port', '--page-port', '--app-port'])(
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

it('npm start without --app-port starts although port 3002 is taken, because the app is only a sample', async () => {
  const other = createServer().listen(3002, '127.0.0.1')
  // If another program has the port, it is taken all the same.
  await Promise.race([once(other, 'listening'), once(other, 'error')])
  const stack = startCommand([
    ...anyPorts.slice(0, anyPorts.indexOf('--app-port')),
    '--no-demo',
    '--ephemeral',
  ])
  await stack.ready
  const [, url = ''] = /^app +(\S+)/m.exec(stack.output.out) ?? []
  expect(url).not.toMatch(/:3002$/)
  expect((await fetch(url)).status).toBe(200)
  await stack.signal('SIGTERM')
  other.close()
}, 120_000)

it.each([
  [['--set', 'exportCap=0'], /exportCap/],
  [['--set', 'nonsense'], /NAME=VALUE/],
  [['--port', 'x'], /not a port/],
  [['--data', ''], /not a directory/],
  [['--dynamodb-endpoint', 'http://127.0.0.1:1'], /^no DynamoDB answers at \S+:1 \(ECONNREFUSED\): .+\n$/],
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
    'a data directory in /proc, which takes none',
    () => '/proc/data/of/mine',
    {},
    /^cannot write \/proc\/data\/of\/mine \([A-Z]+\): .+\n$/,
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

it('npm start is ready with the AWS settings of a laptop', async () => {
  const home = newDirectory()
  mkdirSync(join(home, '.aws'))
  writeFileSync(
    join(home, '.aws/config'),
    '[default]\nuse_fips_endpoint = true\nuse_dualstack_endpoint = true\n',
  )
  const stack = startCommand([...anyPorts, '--no-demo', '--ephemeral'], {
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
  expect((await fetch(`${url}/.well-known/openid-configuration`)).status).toBe(200)
  await stack.signal('SIGTERM')
}, 60_000)

it('SIGTERM during the start of a stack that keeps nothing leaves no directory behind', async () => {
  const temporary = newDirectory()
  const ownDirectories = () => readdirSync(temporary).filter((name) => name.startsWith('local-stack-'))
  const stack = startCommand([...anyPorts, '--no-demo', '--ephemeral'], { TMPDIR: temporary })
  stack.ready.catch(() => undefined)
  await expect.poll(ownDirectories, { timeout: 30_000 }).toHaveLength(1)
  await stack.signal('SIGTERM')
  expect(ownDirectories()).toEqual([])
}, 60_000)

it('if the process between npm and the stack is killed, the stack stops', async () => {
  const between = [process.execPath, 'infra/with-dependencies.mjs', 'infra/local/start.ts']
  const options = [...anyPorts, '--no-demo', '--ephemeral']
  const stack = startCommand(options, { npm_lifecycle_event: 'start' }, between)
  const url = await stack.ready
  await stack.signal('SIGKILL')
  const isAnswering = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await expect.poll(isAnswering, { timeout: 10_000 }).toBe(false)
}, 60_000)

it('behind a proxy, all URLs have the public address; the local one still works', async () => {
  const publicUrl = 'https://login.example.test'
  const stack = startCommand([...anyPorts, '--no-demo', '--ephemeral', '--public-url', publicUrl])
  onTestFinished(async () => {
    await stack.signal('SIGTERM')
  })
  const local = await stack.ready
  /** Sends a request as the proxy passes it on: with the public host name. */
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const sent = request(local + path, { headers: { host: 'login.example.test', ...headers }, agent: false })
    const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage]
    return { headers: answer.headers, status: answer.statusCode, body: await text(answer) }
  }
  const page = `${publicUrl}/_local/page`
  const discovery = await get('/.well-known/openid-configuration')
  expect(JSON.parse(discovery.body)).toMatchObject({
    issuer: publicUrl,
    token_endpoint: `${publicUrl}/oauth2/token`,
    end_session_endpoint: `${page}/sign-out`,
  })
  const atHome = await (await fetch(`${local}/.well-known/openid-configuration`)).json()
  expect(atHome).toMatchObject({ issuer: publicUrl })
  const described = JSON.parse((await get('/_local/stack')).body) as Record<string, unknown>
  expect(described).toMatchObject({ base_url: publicUrl, auth_url: `${page}/` })
  for (const path of ['/', '/sign-out']) {
    const { status, headers, body } = await get(`/_local/page${path}`)
    expect(status).toBe(200)
    expect(headers['content-security-policy']).toContain(`connect-src ${publicUrl}`)
    const [, script = ''] = /src="(assets\/main-[^"]+)"/.exec(body) ?? []
    expect((await get(`/_local/page/${script}`)).status).toBe(200)
  }
  const allowed = await get('/.well-known/jwks.json', { origin: publicUrl })
  expect(allowed.headers['access-control-allow-origin']).toBe(publicUrl)
  expect((await get('/', { host: 'attacker.example' })).status).toBe(403)
}, 120_000)
