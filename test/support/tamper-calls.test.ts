import { afterEach, expect, it, vi } from 'vitest'
import { kms } from '../../shared/aws/kms.ts'
import { runAndDieAt } from './tamper-calls.ts'

interface Sender {
  send: (command: object) => Promise<unknown>
}

const client = kms as unknown as Sender
const base = Object.getPrototypeOf(Object.getPrototypeOf(kms)) as Sender

afterEach(() => void vi.restoreAllMocks())

it('who has died makes no further call, although one was under way, which takes effect before a next run', async () => {
  const effects: string[] = []
  const slow = Promise.withResolvers<undefined>()
  vi.spyOn(base, 'send').mockImplementation(async (command) => {
    const { name } = command as { name: string }
    if (name === 'slow') await slow.promise
    effects.push(name)
  })
  const send = (name: string) => client.send({ name })
  const run = runAndDieAt(() => Promise.all([send('slow').then(() => send('next')), send('last')]), 2, false)
  const died = run.then((value) => {
    effects.push('dead')
    return value
  })
  await new Promise(setImmediate)
  slow.resolve(undefined)
  expect(await died).toBe(true)
  await new Promise(setImmediate)
  expect(effects).toEqual(['slow', 'dead'])
})

it('who makes fewer calls lives', async () => {
  vi.spyOn(base, 'send').mockResolvedValue(undefined)
  expect(await runAndDieAt(() => client.send({}), 2, true)).toBe(false)
  expect(await runAndDieAt(() => client.send({}), 1, true)).toBe(true)
})
