import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startCommand, throughNpm } from '../../support/start-command.ts'

const directory = mkdtempSync(join(tmpdir(), 'start-'))
const started: ReturnType<typeof startCommand>[] = []
afterEach(() => {
  for (const { signal } of started.splice(0)) void signal('SIGKILL')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const anyPorts = ['--port', '0', '--aws-port', '0', '--page-port', '0', '--no-demo']

const start = (...parameters: Parameters<typeof startCommand>) => {
  const command = startCommand(...parameters)
  started.push(command)
  return command
}

const answers = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  )

describe('npm start', () => {
  it(
    'npm start serves, refuses a second stack on the same data, and leaves nothing running',
    { timeout: 240_000 },
    async () => {
      const data = join(directory, 'data')
      const first = start([...anyPorts, '--data', data])
      const url = await first.ready
      expect(await answers(`${url}/_local/stack`)).toBe(true)
      expect(first.output.error).toBe('')
      const { aws_endpoint: awsEndpoint } = (await (await fetch(`${url}/_local/stack`)).json()) as Record<
        string,
        string
      >

      const second = start([...anyPorts, '--data', data])
      await expect(second.ready).rejects.toThrow(/^another local stack uses .+ --data DIR\n$/)
      expect((await second.ended).code).toBe(1)

      const { code, milliseconds } = await first.signal('SIGTERM')
      expect(code).toBe(0)
      expect(milliseconds).toBeLessThan(10_000)
      expect(await answers(url)).toBe(false)
      expect(await answers(awsEndpoint ?? '')).toBe(false)

      const third = start([...anyPorts, '--data', data], {}, throughNpm)
      const again = await third.ready
      // Sends the signal to npm only, as a script would; Ctrl-C in a terminal sends it to every process.
      expect((await third.signal('SIGINT')).code).toBe(0)
      expect(await answers(again)).toBe(false)
    },
  )

  it.each(['--port', '--aws-port', '--page-port'])(
    'npm start says in one line that the port of %s is in use',
    { timeout: 60_000 },
    async (option) => {
      const other = createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => other.once('listening', resolve))
      const { port } = other.address() as AddressInfo
      const attempt = start([...anyPorts, '--ephemeral', option, String(port)])
      await expect(attempt.ready).rejects.toThrow(
        `port ${port} is taken: stop what uses it, or choose another with ${option} PORT\n`,
      )
      expect((await attempt.ended).code).toBe(1)
      expect(attempt.output.error.trimEnd()).not.toContain('\n')
      other.close()
    },
  )

  it.each([
    [['--set', 'exportCap=0'], /exportCap/],
    [['--set', 'nonsense'], /NAME=VALUE/],
    [['--port', 'x'], /not a port/],
    [['--aws', 'conflict'], /'conflict' is none of all, conflicts, stale-reads/],
  ])(
    'npm start refuses the options %s and names what is wrong',
    { timeout: 60_000 },
    async (args, message) => {
      const attempt = start([...anyPorts, '--ephemeral', ...args])
      await expect(attempt.ready).rejects.toThrow(message)
      expect((await attempt.ended).code).toBe(1)
    },
  )
})
