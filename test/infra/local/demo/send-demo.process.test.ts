import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newDirectory } from '../../../support/new-directory.ts'
import { anyPorts, startCommand } from '../../../support/start-command.ts'

it('npm start is not ready before the demo data is whole', async () => {
  const data = newDirectory()
  const stack = startCommand([...anyPorts, '--data', data])
  const url = await stack.ready
  expect(JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8'))).toMatchObject({ sent: true })
  const { queues } = (await (await fetch(`${url}/_local/queues`)).json()) as {
    queues: Record<'visible' | 'inFlight' | 'delayed', number>[]
  }
  expect(queues.length).toBeGreaterThan(15)
  for (const { visible, inFlight, delayed } of queues) expect(visible + inFlight + delayed).toBe(0)
  await stack.signal('SIGTERM')
}, 180_000)
