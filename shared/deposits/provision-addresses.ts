import { ConditionFailed, type Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { addressDigest, putAddress, putFreeAddress, putPool, readAddresses } from './address.ts'

/** A batch of new deposit addresses for one pool. */
interface AddressBatch {
  batch_id: string
  currency: string
  currency_network: string
  required_confirmations: number
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
export async function provisionAddresses(
  { addresses, ...batch }: AddressBatch,
  record: EventRecord,
): Promise<Outcome> {
  const { currency, currency_network: network } = batch
  const pool = { currency, network }
  const known = await readAddresses(addresses.map((address) => ({ network, ...address })))
  if (known.some(({ batch_id }) => batch_id !== batch.batch_id)) throw new RejectedEvent('address_taken')
  const outcomes: Outcome[] = []
  for (let start = 0; start < addresses.length; start += chunkSize) {
    const writes = addresses.slice(start, start + chunkSize).flatMap((address) => {
      const digest = addressDigest({ network, ...address })
      return [putAddress(digest, { ...batch, ...address }), putFreeAddress(pool, digest)]
    })
    outcomes.push(await addChunk(writes, start / chunkSize, record))
  }
  outcomes.push(await applyOnce(record, [putPool(pool)]))
  return outcomes.includes('applied') ? 'applied' : 'duplicate'
}

async function addChunk(writes: Write[], index: number, record: EventRecord): Promise<Outcome> {
  const { detailType, businessKey } = record
  const chunkKey = { detailType: `${detailType}.chunk`, businessKey: `${index}#${businessKey}` }
  try {
    return await applyOnce({ ...record, ...chunkKey }, writes)
  } catch (error) {
    // Another batch has added the same address since the addresses were read.
    throw error instanceof ConditionFailed ? new RejectedEvent('address_taken') : error
  }
}
