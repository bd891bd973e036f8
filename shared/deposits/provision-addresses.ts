import { ConditionFailed } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { addressDigest, type Pool, putAddress, putFreeAddress, putPool, readAddresses } from './address.ts'

/** A batch of new deposit addresses for one pool. */
export interface AddressBatch extends Pool {
  batchId: string
  requiredConfirmations: number
  addresses: { address: string; tag?: string | undefined }[]
}

/**
 * Number of addresses in one transaction of at most 100 writes: two writes for each, and one for the chunk's
 * event record. It must not change, because a partly added batch is continued by its chunk numbers.
 */
const chunkSize = 48

/**
 * Adds a batch of deposit addresses to its pool, each exactly once, even if an earlier delivery added only
 * part of them. Every chunk claims a key of its own in the transaction that adds its addresses, and the batch
 * claims its business key at last: it is recorded once all of it is there, and can be refused until then.
 *
 * Throws RejectedEvent, before anything is written, when an address came in another batch.
 */
export async function provisionAddresses(batch: AddressBatch, record: EventRecord): Promise<Outcome> {
  const { network, addresses, batchId } = batch
  const known = await readAddresses(addresses.map((address) => ({ network, ...address })))
  if (known.some((item) => item.batch_id !== batchId)) throw new RejectedEvent('address_taken')
  const outcomes: Outcome[] = []
  for (let start = 0; start < addresses.length; start += chunkSize) {
    const chunk = { ...batch, addresses: addresses.slice(start, start + chunkSize) }
    outcomes.push(await addChunk(chunk, start / chunkSize, record))
  }
  outcomes.push(await applyOnce(record, [putPool(batch)]))
  return outcomes.includes('applied') ? 'applied' : 'duplicate'
}

async function addChunk(batch: AddressBatch, index: number, record: EventRecord): Promise<Outcome> {
  const chunkRecord: EventRecord = {
    ...record,
    detailType: `${record.detailType}.chunk`,
    businessKey: `${index}#${record.businessKey}`,
  }
  try {
    return await applyOnce(
      chunkRecord,
      batch.addresses.flatMap((address) => addAddress(batch, address)),
    )
  } catch (error) {
    // Another batch has added the same address since the addresses were read.
    throw error instanceof ConditionFailed ? new RejectedEvent('address_taken') : error
  }
}

function addAddress(batch: AddressBatch, { address, tag }: AddressBatch['addresses'][number]) {
  const { currency, network } = batch
  const digest = addressDigest({ network, address, tag })
  const item = {
    currency,
    currency_network: network,
    address,
    tag,
    required_confirmations: batch.requiredConfirmations,
    batch_id: batch.batchId,
  }
  return [putAddress(digest, item), putFreeAddress(batch, digest)]
}
