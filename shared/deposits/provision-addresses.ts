import { ConditionFailed, tryTransact } from '../db/write.ts'
import { applyOnce, dropEventRecord, type EventRecord, findOutcome } from '../events/event-record.ts'
import type { Result } from '../events/outcome.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import {
  addressDigest,
  type AddressItem,
  dropAddress,
  dropFromPool,
  type Pool,
  putAddress,
  putFreeAddress,
  putPool,
  readAddresses,
} from './address.ts'

/**
 * Number of addresses in a chunk. Of the 100 writes of a transaction, each address takes two, and the event
 * record takes one. Never change the size: a retry identifies written chunks only by their number.
 */
const chunkSize = 48

/** A part of a batch that is written in one transaction. */
interface Chunk {
  /** The record of the part; that of the batch is written last. */
  record: EventRecord
  addresses: AddressItem[]
}

/**
 * Adds the addresses of a batch to the pool of their currency and network, which is the same for all of them.
 * Throws RejectedEvent if another batch has one of the addresses; then none is added.
 *
 * Each chunk is written in one transaction with its own event record, so a retry skips the chunks that are
 * already written. The last transaction records the batch, so a recorded batch is complete. If another batch
 * adds one of the addresses meanwhile, the chunks that were written are taken back.
 */
export async function provisionAddresses(batch: AddressItem[], record: EventRecord): Promise<Result> {
  // The records of the chunks do not tell whether the batch is complete, or was refused.
  const [done, known] = await Promise.all([findOutcome(record), readAddresses(batch.map(inNetwork))])
  if (done !== undefined) return done
  const chunks = split(batch, record)
  const isOwn = ({ batch_id }: AddressItem) => batch_id === record.businessKey
  // Chunks are there only if an earlier try ended before it took them back.
  if (!known.every(isOwn)) throw await reject(known.some(isOwn) ? chunks : [])
  const results: Result[] = []
  for (const chunk of chunks)
    try {
      results.push(await applyOnce(chunk.record, chunk.addresses.flatMap(putFree)))
    } catch (error) {
      // The condition fails if another batch has added one of these addresses since `readAddresses`.
      throw error instanceof ConditionFailed ? await reject(chunks) : error
    }
  results.push(
    await applyOnce(
      record,
      batch.slice(0, 1).map((address) => putPool(poolOf(address))),
    ),
  )
  return { outcome: results.some(({ outcome }) => outcome === 'applied') ? 'applied' : 'duplicate' }
}

const split = (batch: readonly AddressItem[], record: EventRecord): Chunk[] =>
  Array.from({ length: Math.ceil(batch.length / chunkSize) }, (_, number) => ({
    record: {
      ...record,
      detailType: `${record.detailType}.chunk`,
      businessKey: `${number}#${record.businessKey}`,
    },
    addresses: batch.slice(number * chunkSize, (number + 1) * chunkSize),
  }))

/** Takes back those chunks of a batch that were written, and resolves with the reason why it is rejected. */
async function reject(chunks: readonly Chunk[]): Promise<RejectedEvent> {
  for (const { record, addresses } of chunks)
    // The conditions fail if the chunk is not there, or if a user was given an address of it: then it stays.
    await tryTransact([dropEventRecord(record), ...addresses.flatMap(dropFree)])
  return new RejectedEvent('address_taken')
}

const inNetwork = (address: AddressItem) => ({ ...address, network: address.currency_network })
const digestOf = (address: AddressItem): string => addressDigest(inNetwork(address))
const poolOf = ({ currency, currency_network: network }: AddressItem): Pool => ({ currency, network })

/** The writes that add an address, and put it into its pool. */
const putFree = (address: AddressItem) => {
  const digest = digestOf(address)
  return [putAddress(digest, address), putFreeAddress(poolOf(address), digest)]
}

/** The writes that take a free address back. */
const dropFree = (address: AddressItem) => {
  const digest = digestOf(address)
  return [dropAddress(digest, address.batch_id), dropFromPool(poolOf(address), digest)]
}
