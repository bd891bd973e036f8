import { SQSClient } from '@aws-sdk/client-sqs'
import { growTree } from '../../../shared/community/growth/run.ts'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import { buy, join } from '../../support/community-events.ts'
import {
  beginDatabase,
  endDatabase,
  installDatabase,
} from '../../support/dynamodb-in-memory/play-database.ts'
import { inventPerson } from '../../support/large-list/invent-person.ts'
import { type Row, round } from '../table.ts'
import { measureInRounds, type RoundCost } from './rounds.ts'

const callMilliseconds = 5
/** Write units that a partition accepts per second (Amazon DynamoDB: partitions and data distribution). */
const partitionUnits = 1_000
const rootId = 1
const firstJoined = Date.UTC(2024, 0, 1)
const batch = 1_000

/** Measures registrations and purchases in an in-memory referral tree of `size` members. */
export async function measureTree(size: number): Promise<Row[]> {
  // Drops the messages that would start the worker. The benchmark calls growTree itself.
  SQSClient.prototype.send = async () => ({})
  await installDatabase()
  beginDatabase(() => Date.now())
  let members = 0
  const add = (count: number) =>
    forEachConcurrently(Array.from({ length: count }), 1, async () => {
      members += 1
      const referrerId = members === 1 ? undefined : 1 + Math.floor(Math.random() * (members - 1))
      const registeredAt = firstJoined + members * 600_000
      await join({ userId: members, ...inventPerson(members), referrerId, registeredAt })
    })
  const buyAtRandom = (count: number) =>
    forEachConcurrently(Array.from({ length: count }), 1, () =>
      buy(2 + Math.floor(Math.random() * (members - 1)), '9.99'),
    )
  const grow = () => growTree(rootId, Date.now() + 3_600_000)
  try {
    while (members < size) {
      await add(Math.min(batch, size - members))
      await grow()
    }
    const joined = await measureInRounds(() => add(batch))
    const grown = await measureInRounds(grow)
    const bought = await measureInRounds(() => buyAtRandom(batch))
    const counted = await measureInRounds(grow)
    return [describe('a newcomer', joined, grown), describe('a purchase', bought, counted)]
  } finally {
    endDatabase()
    Reflect.deleteProperty(SQSClient.prototype, 'send')
  }
}

function describe(tree: string, events: RoundCost<unknown>, growth: RoundCost<unknown>): Row {
  const units = new Map(growth.writeUnits)
  for (const [partition, used] of events.writeUnits) units.set(partition, (units.get(partition) ?? 0) + used)
  const [[partition, busiest] = ['', 0]] = [...units].sort(([, one], [, other]) => other - one)
  const milliseconds = (growth.rounds * callMilliseconds) / batch
  return {
    tree,
    'ms each': round(milliseconds, 3),
    'a second': Math.floor(1_000 / milliseconds),
    'busiest partition': partition,
    'its units each': round(busiest / batch, 3),
    'a second by it': Math.floor((partitionUnits * batch) / busiest),
    'write units each': round(
      [...growth.writeUnits.values()].reduce((sum, used) => sum + used, 0) / batch,
      3,
    ),
  }
}
