import { afterEach, expect, test, vi } from 'vitest'
import { openQueues } from '../../../../../infra/local/aws/sqs/queues.ts'
import { openStore } from '../../../../../infra/local/aws/storage/store.ts'
import { openQuirks, type Quirks } from '../../../../../infra/local/quirks.ts'
import { queueModel, stackModel } from '../stack.ts'

afterEach(() => void vi.restoreAllMocks())

function openQueue(name: string, quirks: Partial<Quirks>) {
  const model = stackModel({ queues: [queueModel(name, { visibilityTimeoutSeconds: 30 })] })
  const queue = openQueues(openStore(undefined), model, { ...openQuirks(), ...quirks }).find(name)
  const clock = vi.spyOn(Date, 'now').mockReturnValue(0)
  return {
    send: (...bodies: string[]) => {
      for (const body of bodies) queue.send({ body, groupId: 'group', deduplicationId: body, senderId: 'x' })
    },
    takeAt: async (milliseconds: number) => {
      clock.mockReturnValue(milliseconds)
      const { signal } = new AbortController()
      const messages = await queue.receive(10, { waitMilliseconds: 0, signal })
      for (const { receipt } of messages) queue.delete(receipt ?? '')
      return messages.map(({ body }) => body)
    },
  }
}

test('if delays are simulated, a standard queue delivers messages late and in another order', async () => {
  const draws = [0.2, 0.1]
  const { send, takeAt } = openQueue('work', {
    happens: (_quirk, stream) => stream === 'work',
    draw: () => draws.shift() ?? 0,
  })
  send('first', 'second')
  expect(await takeAt(199)).toEqual([])
  expect(await takeAt(200)).toEqual(['second'])
  expect(await takeAt(400)).toEqual(['first'])
})

test('if faults are simulated, a standard queue delivers a message again after the message was deleted', async () => {
  let repetitions = 1
  const { send, takeAt } = openQueue('work', {
    happens: (_quirk, stream) => stream === 'work again' && repetitions-- > 0,
    draw: () => 0.1,
  })
  send('again')
  expect(await takeAt(0)).toEqual(['again'])
  expect(await takeAt(199)).toEqual([])
  expect(await takeAt(200)).toEqual(['again'])
  expect(await takeAt(60_000)).toEqual([])
})

test('a FIFO queue with faults and delays delivers each message once, in time and in order', async () => {
  const { send, takeAt } = openQueue('work.fifo', { happens: () => true, draw: () => 0.9 })
  send('1', '2', '3')
  expect(await takeAt(0)).toEqual(['1', '2', '3'])
  expect(await takeAt(60_000)).toEqual([])
})
