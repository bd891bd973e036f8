import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { events } from '../../infra/events.ts'
import { ownSource } from '../../shared/env.ts'
import { keyOf } from './simulation/events.ts'
import { drawHistory, type Operation } from './simulation/history.ts'

/** Runs simulations as `npm run test:faults` does, on the table and the keys that all tests share. */
async function runSeeds(...options: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { output: await text(child.stdout), code: await ended }
}

it('the simulations have every type of event that other systems send', () => {
  const sent = events.filter(({ senders }) => !senders.includes(ownSource))
  expect(Object.keys(keyOf).sort()).toEqual(sent.map(({ detailType }) => detailType).sort())
})

it('the drawn histories have every type of event that the simulations know', () => {
  const histories = Array.from({ length: 20 }, (_, seed) => drawHistory(seed + 1, 60, 1))
  const typeOf = (operation: Operation) => {
    if (operation.kind === 'deposit') return 'deposit.updated'
    return operation.kind === 'event' ? operation.type : []
  }
  const drawn = histories.flatMap(({ operations }) => operations.flatMap(typeOf))
  expect([...new Set(drawn)].sort()).toEqual(Object.keys(keyOf).sort())
})

it('in four simulations with random faults, the service answers as the contract requires', async () => {
  const { code, output } = await runSeeds('--seeds', '4', '--operations', '3', '--compare', '2')
  expect(code, output).toBe(0)
}, 300_000)
