import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { QueueView } from '../../../../infra/local/aws/server.ts'
import { demoLoginPassword } from '../../../../infra/local/demo/demo-users.ts'
import { startCommand } from '../../../support/start-command.ts'

const data = mkdtempSync(join(tmpdir(), 'demo-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

async function start() {
  const ports = ['--port', '0', '--aws-port', '0', '--page-port', '0']
  const command = startCommand([...ports, '--data', data], { POWERTOOLS_LOG_LEVEL: 'WARN' })
  const url = await command.ready
  const queues = async () => {
    const answer = (await (await fetch(`${url}/_local/queues`)).json()) as { queues: QueueView[] }
    return answer.queues
      .filter((queue) => queue.visible + queue.inFlight + queue.delayed > 0)
      .map(({ name }) => name)
  }
  return { url, queues, output: command.output, stop: () => command.signal('SIGTERM') }
}

const readRecord = () => JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as { sent: boolean }

it(
  'the demo data lets Alice sign in, causes no dead letter and no low address pool, and is not sent again after a restart',
  { timeout: 240_000 },
  async () => {
    for (const run of ['first', 'second']) {
      const stack = await start()
      const response = await fetch(`${stack.url}/user/login-with-password`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'alice@example.com', login_password: demoLoginPassword }),
      })
      expect(response.status, run).toBe(200)
      await expect.poll(readRecord, { timeout: 90_000 }).toMatchObject({ sent: true })
      await expect.poll(stack.queues, { timeout: 30_000 }).toEqual([])
      await stack.stop()
      expect(stack.output.out + stack.output.error).not.toContain('address pool is low')
    }
  },
)
