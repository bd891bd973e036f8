import { expect, onTestFinished, test, vi } from 'vitest'
import { openQueues } from '../../../../../infra/local/aws/sqs/queues.ts'
import { openStore } from '../../../../../infra/local/aws/storage/store.ts'
import { queueModel, stackModel } from '../stack.ts'

const dead = queueModel('dead')
const work = queueModel('work', { redrive: { deadLetterArn: dead.arn, maxReceiveCount: 2 } })

test('a message that becomes visible during a receive is not received more often than maxReceiveCount', async () => {
  const { signal } = new AbortController()
  const clock = vi.spyOn(Date, 'now')
  onTestFinished(() => clock.mockRestore())
  const step = 10_000
  // Every call of Date.now moves the clock ahead. The message becomes visible after one call in the first
  // round, after two calls in the second, and so on.
  for (let readings = 0; readings < 5; readings += 1) {
    const store = openStore(undefined)
    const queue = openQueues(store, stackModel({ queues: [work, dead] })).byArn(work.arn)
    clock.mockReturnValue(0)
    queue?.send({ body: 'poison', senderId: 'sender' })
    const receive = () => queue?.receive(1, { visibilitySeconds: 1, waitMilliseconds: 0, signal })
    await receive()
    clock.mockReturnValue(2_000)
    expect(await receive()).toHaveLength(1)
    let time = 3_000 - 1 - readings * step
    clock.mockImplementation(() => (time += step) - step)
    expect([readings, await receive()]).toEqual([readings, []])
    store.close()
  }
})
