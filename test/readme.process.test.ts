import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { QueueView } from '../infra/local/aws/server.ts'
import { newDirectory } from './support/new-directory.ts'
import { anyPorts, startCommand, throughNpm } from './support/start-command.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** The README's code blocks in `sh`, which must run unchanged. Blocks in `console` are not run. */
const [event = '', call = '', client = '', ...ops] = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(
  ([, code = '']) => code,
)

/** The answer that the README shows first. */
const [, shown = ''] = /^```json\n(.*?)^```$/ms.exec(readme) ?? []

const data = newDirectory()
let stack: ReturnType<typeof startCommand>
let addresses: [api: string, aws: string]

/** Starts the stack with the demo data, and waits until the whole demo has been sent. */
async function start(command?: string[]): Promise<void> {
  stack = startCommand(['--data', data, ...anyPorts], {}, command)
  const api = await stack.ready
  addresses = [api, /^AWS\s+(\S+)$/m.exec(stack.output.out)?.[1] ?? '']
  const demo = () => JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as unknown
  await vi.waitFor(() => expect(demo()).toMatchObject({ sent: true }), { timeout: 90_000, interval: 200 })
}

beforeAll(() => start(throughNpm), 120_000)

afterAll(async () => {
  await stack.signal('SIGKILL')
})

/** Runs commands of the README against this test's stack; resolves with what they print. */
async function perform(commands: string): Promise<string> {
  const here = commands
    .replaceAll('http://127.0.0.1:3000', addresses[0])
    .replaceAll(/npm run (--silent )?ops --/g, `npm run --silent ops -- --url ${addresses[0]}`)
  return (await run('bash', ['-euo', 'pipefail', '-c', here], { cwd: root })).stdout
}

describe('the README', () => {
  it('the README’s first commands let Alice sign in with an authenticator code to her wallet', async () => {
    const answers = (await perform(call)).split(/(?<=\})(?=\{)/)
    expect(answers).toHaveLength(3)
    for (const answer of answers) expect(answer).toMatch(/"code":0,"msg":"success"/)
    expect(JSON.parse(answers[0] ?? '')).toEqual(JSON.parse(shown))
    expect(answers[2]).toContain('"total":')
  })

  it.for([
    ['an event', event],
    ['a client', client],
  ] as const)('the README’s example of %s takes effect', async ([, commands]) =>
    expect(await perform(commands)).toMatch(/^applied\s+true$/m),
  )

  it('the README’s commands for operators and auditors succeed, and their output shows a key rotation', async () => {
    expect(ops).toHaveLength(2)
    expect(await perform(ops.join(''))).toMatch(/^No findings: all 8 controls hold$[^]*"state": "retiring"/m)
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

  it('npm start prints the URLs of console, sample app and reference, with a demo user', async () => {
    const { out } = stack.output
    for (const [, , url = ''] of out.matchAll(/^(open|app|reference) +(\S+)/gm))
      expect((await fetch(url)).ok).toBe(true)
    expect(out).toMatch(
      /^open .+\napp .+\nreference .+\ndemo user +alice@example\.com, password "correct horse battery"/m,
    )
  })

  it('a second local stack with the same data directory is refused', async () => {
    const second = startCommand([...anyPorts, '--data', data])
    await expect(second.ready).rejects.toThrow(/^another local stack uses .+ --data DIR\n$/)
    expect((await second.ended).code).toBe(1)
  })

  // No dead letter, no warning about address pools, even after a restart.
  it('SIGINT and SIGTERM end the local stack, whose demo data lets nothing go wrong', async () => {
    for (const end of ['SIGINT', 'SIGTERM'] as const) {
      await vi.waitFor(async () => expect(await queued()).toEqual([]), { timeout: 30_000, interval: 200 })
      // Sends the signal to npm only, as a script would. Ctrl-C would send it to every process of the stack.
      const { code, milliseconds } = await stack.signal(end)
      expect(code).toBe(0)
      expect(milliseconds).toBeLessThan(10_000)
      expect(stack.output.out + stack.output.error).not.toContain('address pool is low')
      for (const address of addresses) expect(await isSilent(address)).toBe(true)
      if (end === 'SIGINT') await start()
    }
  }, 240_000)
})
