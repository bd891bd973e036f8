import { ConditionFailed } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { type Pool, putFree, putPool } from './address-pool.ts'
import { type AddressItem, putAddress, readAddresses } from './deposit-address.ts'
import { addressDigest } from './network-address.ts'

/** A batch of new addresses of one pool. */
export interface AddressBatch extends Pool {
  batchId: string
  requiredConfirmations: number
  addresses: { address: string; tag?: string | undefined }[]
}

/** Addresses of one transaction: two writes each, beside the chunk's key, of at most 100. */
const chunkSize = 48

/**
 * Puts a batch of addresses into its pool, each once, however often and however far it was tried before: the batch claims its
 * key, then every chunk claims one of its own in the transaction that adds its addresses.
 *
 * Throws Refused, before anything is written, where an address came in another batch.
 */
export async function provisionAddresses(batch: AddressBatch, record: EventRecord): Promise<Outcome> {
  const { network, addresses, batchId } = batch
  const known = await readAddresses(addresses.map((its) => ({ network, ...its })))
  if (known.some((item) => item.batch_id !== batchId)) throw taken()
  const outcomes = [await applyOnce(record, [putPool(batch)])]
  for (let start = 0; start < addresses.length; start += chunkSize) {
    const chunk = { ...batch, addresses: addresses.slice(start, start + chunkSize) }
    outcomes.push(await addChunk(chunk, start / chunkSize, record))
  }
  return outcomes.includes('applied') ? 'applied' : 'duplicate'
}

const taken = () => new RejectedEvent('address_taken')

async function addChunk(batch: AddressBatch, index: number, record: EventRecord): Promise<Outcome> {
  const key: EventRecord = {
    detailType: `${record.detailType}.chunk`,
    businessKey: `${index}#${record.businessKey}`,
    digest: record.digest,
  }
  try {
    return await applyOnce(
      key,
      batch.addresses.flatMap((its) => addAddress(batch, its)),
    )
  } catch (error) {
    // Another batch with the same address came at the same time.
    throw error instanceof ConditionFailed ? taken() : error
  }
}

function addAddress(batch: AddressBatch, { address, tag }: AddressBatch['addresses'][number]) {
  const { currency, network } = batch
  const item: AddressItem = {
    currency,
    currency_network: network,
    address,
    tag,
    required_confirmations: batch.requiredConfirmations,
    batch_id: batch.batchId,
  }
  return [putAddress(item), putFree(batch, addressDigest({ network, address, tag }))]
}
