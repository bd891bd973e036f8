import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { anyPorts, startCommand } from '../../support/start-command.ts'
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
