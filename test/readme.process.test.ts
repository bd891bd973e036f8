import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { QueueView } from '../infra/local/aws/server.ts'
import { anyPorts, startCommand, throughNpm } from './support/start-command.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

/** The README's code blocks in `sh` and `js`, which must run unchanged; `console` only illustrates. */
const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```(sh|js)\n(.*?)^```$/gms)].map(
  ([, language, code]) => ({ language, code: code ?? '' }),
)
const shell = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code)
const scripts = blocks.filter(({ language }) => language === 'js').map(({ code }) => code)

const data = mkdtempSync(join(tmpdir(), 'readme-'))
let stack: ReturnType<typeof startCommand>
let addresses: [api: string, aws: string]

/** Starts the stack with the demo data, and waits until all of it has been sent. */
async function start(command?: string[]): Promise<void> {
  const options = ['--data', data, ...anyPorts, '--set', 'mailDelaySeconds=1']
  stack = startCommand(options, { POWERTOOLS_LOG_LEVEL: 'WARN' }, command)
  const api = await stack.ready
  addresses = [api, /^AWS\s+(\S+)$/m.exec(stack.output.out)?.[1] ?? '']
  // The stack is ready before all demo data has been sent.
  const demo = () => JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as unknown
  await vi.waitFor(() => expect(demo()).toMatchObject({ sent: true }), { timeout: 90_000, interval: 200 })
}

beforeAll(() => start(throughNpm), 120_000)

afterAll(async () => {
  await stack.signal('SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

/** Replaces the default addresses in a code block with the addresses of this test's stack. */
const here = (code: string): string =>
  code.replaceAll('http://127.0.0.1:3000', addresses[0]).replaceAll('http://127.0.0.1:4566', addresses[1])

describe('the README', () => {
  it('the README’s curl commands sign Alice in by mailed code and by authenticator, and read her wallet', async () => {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here(shell.slice(0, 3).join('\n'))], {
      cwd: root,
    })
    const answers = stdout.split(/(?<=\})(?=\{)/)
    expect(answers).toHaveLength(4)
    for (const answer of answers) expect(answer).toMatch(/"code":0,"msg":"success"/)
    expect(answers[0]).toContain('"device_token":"ey')
    expect(answers[1]).toContain('"currency":"USDT"')
    expect(answers[3]).toContain('"total":')
  })

  it('the README’s client library example starts an authorization request', async () => {
    const { stdout } = await run('node', ['--input-type=module', '-e', here(scripts[0] ?? '')], { cwd: root })
    const address = new URL(stdout.trim().replace('open ', ''))
    const answer = await fetch(address, { redirect: 'manual' })
    expect(answer.status).toBe(302)
  })

  it('the README’s example puts an event that the bus accepts', async () => {
    const { stdout } = await run('node', ['--input-type=module', '-e', here(scripts[1] ?? '')], { cwd: root })
    expect(stdout.trim()).toBe('accepted')
  })

  it('the README’s ops commands succeed against the local stack', async () => {
    const commands = (shell[3] ?? '').trim().split('\n')
    expect(commands.length).toBeGreaterThan(3)
    for (const command of commands) {
      const pointed = command.endsWith('--help') ? command : `${command} --url ${addresses[0]}`
      await run('bash', ['-euo', 'pipefail', '-c', pointed], { cwd: root })
    }
  })

  it('every runnable block of the README is run by this test', () => {
    expect(shell).toHaveLength(4)
    expect(scripts).toHaveLength(2)
  })
})

describe('npm start', () => {
  const queued = async () => {
    const answer = (await (await fetch(`${addresses[0]}/_local/queues`)).json()) as { queues: QueueView[] }
    return answer.queues
      .filter((queue) => queue.visible + queue.inFlight + queue.delayed > 0)
      .map(({ name }) => name)
  }
  const isSilent = (url: string) =>
    fetch(url).then(
      () => false,
      () => true,
    )

  it('a second stack on the same data is refused', async () => {
    const second = startCommand([...anyPorts, '--data', data])
    await expect(second.ready).rejects.toThrow(/^another local stack uses .+ --data DIR\n$/)
    expect((await second.ended).code).toBe(1)
  })

  it('the demo data is sent once, and causes no dead letter or low address pool; SIGINT and SIGTERM end the stack', async () => {
    for (const end of ['SIGINT', 'SIGTERM'] as const) {
      await vi.waitFor(async () => expect(await queued()).toEqual([]), { timeout: 30_000, interval: 200 })
      // Signal only npm, as a script would. Ctrl-C in a terminal would signal every process.
      const { code, milliseconds } = await stack.signal(end)
      expect(code).toBe(0)
      expect(milliseconds).toBeLessThan(10_000)
      expect(stack.output.out + stack.output.error).not.toContain('address pool is low')
      for (const address of addresses) expect(await isSilent(address)).toBe(true)
      if (end === 'SIGINT') await start()
    }
  }, 240_000)
})
