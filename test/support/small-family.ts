import { growTree } from '../../shared/community/growth/run.ts'
import { newUserIds, silenceTreeQueue } from './community.ts'
import { buy, join } from './community-events.ts'

/** Ids of three generations: the root referred the child, and the child referred the grandchild. */
export interface SmallFamily {
  root: number
  child: number
  grandchild: number
}

/** Registers three generations, who joined on the first three days of 2026, and lists them. */
export async function addSmallFamily(): Promise<SmallFamily> {
  silenceTreeQueue()
  const root = newUserIds()
  const [child, grandchild] = [root + 1, root + 2]
  const day = (number: number) => Date.UTC(2026, 0, number)
  const person = (userId: number, nickname: string) => ({
    userId,
    nickname,
    email: `${nickname}-${userId}@example.com`,
  })
  await join({ ...person(root, 'Root'), registeredAt: day(1) })
  await join({ ...person(child, 'Child'), referrerId: root, registeredAt: day(2) })
  await join({ ...person(grandchild, 'Grandchild'), referrerId: child, registeredAt: day(3) })
  await buy(child, '0.100000000000000001')
  await buy(grandchild, '2.000000000000000001')
  await growTree(root, Date.now() + 60_000)
  return { root, child, grandchild }
}
