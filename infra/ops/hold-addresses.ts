import {
  dropFromPool,
  holdAddress,
  listDigests,
  listPools,
  type Pool,
  releaseAddress,
} from '../../shared/deposits/address-pool.ts'
import { checkUnassigned } from '../../shared/deposits/deposit-address.ts'
import { transact, tryTransact } from '../../shared/db/write.ts'
import { forEachConcurrently } from '../../shared/for-each-concurrently.ts'
import type { CommandContext } from './command.ts'
import { countMessages, findQueue, openSqs, totalOf } from './dead-letters/queues.ts'
import { OperationError } from './errors.ts'
import type { Target } from './target.ts'
import { formatTable } from './terminal.ts'

/** What the commands `addresses hold` and `addresses release` did with a pool. */
interface PoolResult extends Pool {
  /** Number of addresses that were held or released. */
  done: number
  /** Number of addresses that were left out, because they are assigned to users. */
  assigned: number
}

/** Number of addresses whose transactions run at the same time. */
const concurrency = 16

/** Sets every free address of the table aside, so that no request is given one. May be repeated. */
export async function holdAddresses({ show }: CommandContext): Promise<boolean> {
  const hold = async (pool: Pool, digest: string) =>
    (await tryTransact(holdAddress(pool, digest))).length === 0
  const pools = await forEachPool('free', hold)
  show({ pools }, () => describe(pools, 'HELD'))
  return true
}

/**
 * Makes the addresses that were set aside free again, except those that an event has assigned since. Throws
 * an OperationError while such events wait or are dead letters. May be repeated.
 */
export async function releaseAddresses({ target, show }: CommandContext): Promise<boolean> {
  await checkReplayed(target)
  const release = async (pool: Pool, digest: string) => {
    const isUnassigned = checkUnassigned(digest)
    const failures = await tryTransact([...releaseAddress(pool, digest), isUnassigned])
    if (failures.some(({ write }) => write === isUnassigned)) await transact(dropFromPool(pool, digest))
    return failures.length === 0
  }
  const pools = await forEachPool('held', release)
  show({ pools }, () => describe(pools, 'RELEASED'))
  return true
}

async function forEachPool(
  state: 'free' | 'held',
  act: (pool: Pool, digest: string) => Promise<boolean>,
): Promise<PoolResult[]> {
  const results: PoolResult[] = []
  for (const pool of await listPools()) {
    const result = { ...pool, done: 0, assigned: 0 }
    await forEachConcurrently(listDigests(pool, state), concurrency, async (digest) => {
      result[(await act(pool, digest)) ? 'done' : 'assigned'] += 1
    })
    results.push(result)
  }
  return results
}

async function checkReplayed(target: Target): Promise<void> {
  const sqs = openSqs()
  try {
    for (const name of ['addresses.provisioned', 'address.assigned']) {
      const { queue = '', deadLetters } = findQueue(target, name)
      for (const one of [queue, deadLetters])
        if (totalOf(await countMessages(sqs, one)) > 0)
          throw new OperationError(`there are messages in ${one}: an address may still be assigned by one`)
    }
  } finally {
    sqs.destroy()
  }
}

const describe = (pools: PoolResult[], done: string): string =>
  formatTable(
    ['CURRENCY', 'NETWORK', done, 'ASSIGNED'],
    pools.map((pool) => [pool.currency, pool.network, String(pool.done), String(pool.assigned)]),
  )
