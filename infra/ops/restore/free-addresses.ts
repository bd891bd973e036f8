import {
  addressDigest,
  checkUnassigned,
  putFreeAddress,
  toAddress,
} from '../../../shared/deposits/address.ts'
import { tryTransact } from '../../../shared/db/write.ts'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import { countMessages, findQueue, openSqs, totalOf } from '../dead-letters/queues.ts'
import { OperationError } from '../errors.ts'
import type { Target } from '../target.ts'
import type { Terminal } from '../terminal.ts'
import { scanVisibly } from './scan-items.ts'

const concurrency = 16

/** Puts deposit addresses without owner back into their pools. Resolves with the count. Can be run again. */
export async function freeAddresses(terminal: Pick<Terminal, 'screen'> = {}): Promise<number> {
  const items = scanVisibly(terminal, {
    FilterExpression: 'begins_with(pk, :address) AND attribute_not_exists(user_id)',
    ExpressionAttributeValues: { ':address': 'ADDR#' },
  })
  let freed = 0
  await forEachConcurrently(items, concurrency, async (item) => {
    const { address, tag, currency, currency_network: network } = toAddress(item)
    const digest = addressDigest({ network, address, tag })
    const free = putFreeAddress({ currency, network }, digest)
    const failures = await tryTransact([free, checkUnassigned(digest)])
    if (failures.length === 0) freed += 1
  })
  return freed
}

/** Throws an OperationError if a queue or dead-letter queue has an event that might assign an address. */
export async function checkReplayed(target: Target): Promise<void> {
  const sqs = openSqs()
  for (const name of ['addresses.provisioned', 'address.assigned']) {
    const { queue = '', deadLetters } = findQueue(target, name)
    for (const one of [queue, deadLetters])
      if (totalOf(await countMessages(sqs, one)) > 0)
        throw new OperationError(`there are messages in ${one}: an address may still be assigned by one`)
  }
}
