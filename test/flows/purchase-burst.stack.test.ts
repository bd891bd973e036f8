import { expect, it, vi } from 'vitest'
import { growTree } from '../../shared/community/growth/run.ts'
import { readProfile } from '../../shared/community/profile.ts'
import { Big } from '../../shared/money.ts'
import { newUserIds } from '../support/community.ts'
import { join } from '../support/community-events.ts'
import { useLocalStack } from '../support/local-stack.ts'
import { patience } from '../support/manners.ts'
import { putEvents } from '../support/put-event.ts'

const purchases = 1000
const depth = 15

it(
  'a burst of 1,000 purchases in one tree ends with exact sums and no dead letters',
  async () => {
    const root = newUserIds()
    for (let i = 0; i < depth; i += 1) {
      await join({
        userId: root + i,
        nickname: `Member ${i}`,
        email: `burst-${root + i}@example.com`,
        registeredAt: 1_767_225_600_000 + i,
        referrerId: i === 0 ? undefined : root + i - 1,
      })
    }
    await growTree(root, Date.now() + 30_000)

    const burst = Array.from({ length: purchases }, (_, i) => ({
      purchase_id: `burst-${root}-${i}`,
      user_id: root + 1 + (i % (depth - 1)),
      amount: '0.100000000000000001',
      at: Date.now(),
    }))
    await putEvents('package.purchased', burst)

    const bought = (members: (userId: number) => boolean) =>
      burst
        .filter(({ user_id }) => members(user_id))
        .reduce((sum, { amount }) => sum.plus(new Big(amount)), new Big('0'))
    await vi.waitFor(
      async () => {
        for (let i = 0; i < depth; i += 1) {
          const profile = await readProfile(root + i)
          expect(profile?.teamPerformance.toFixed()).toBe(bought((userId) => userId > root + i).toFixed())
          expect(profile?.packageAmount.toFixed()).toBe(bought((userId) => userId === root + i).toFixed())
        }
      },
      { timeout: patience(60_000), interval: 250 },
    )
    const { base_url: baseUrl } = await useLocalStack()
    const { dead_letters: letters } = (await (await fetch(`${baseUrl}/_local/queues`)).json()) as {
      dead_letters: { queue: string; body: string }[]
    }
    expect(letters.filter(({ body }) => body.includes(`burst-${root}`))).toEqual([])
    expect(letters.filter(({ queue }) => queue.startsWith('grow-tree'))).toEqual([])
  },
  patience(90_000),
)
