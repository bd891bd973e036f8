import * as v from 'valibot'
import { ConditionFailed, tryTransact } from '../../shared/db/write.ts'
import {
  addressDigest,
  type AddressItem,
  dropAddress,
  dropFromPool,
  putAddress,
  putFreeAddress,
  putPool,
  readAddresses,
} from '../../shared/deposits/address.ts'
import { ChainAddress, foldAddress, foldTag, ProvisionedTag } from '../../shared/deposits/identity.ts'
import {
  applyOnce,
  dropEventRecord,
  type EventRecord,
  findOutcome,
} from '../../shared/events/event-record.ts'
import { intake } from '../../shared/events/intake.ts'
import type { Result } from '../../shared/events/outcome.ts'
import { RejectedEvent } from '../../shared/events/rejected-event.ts'
import { BusinessKey, Count, CurrencyCode, membersOf } from '../../shared/fields.ts'

/**
 * Number of addresses in a chunk. Of the 100 writes of a transaction, each address takes two, and the event
 * record takes one. Never change the size: a retry identifies written chunks only by their number.
 */
const chunkSize = 48

/**
 * Adds deposit addresses to the pool of their currency and network. If an earlier batch has one of the
 * addresses, rejects the whole batch before any write. Each chunk is written in one transaction with its own
 * event record, so a retry skips the chunks that are already written. The last transaction records
 * `batch_id`, so a recorded batch is complete. If another batch adds one of the addresses meanwhile, the
 * chunks are taken back, and the batch is rejected.
 */
export const handler = intake({
  detailType: 'addresses.provisioned',
  detail: membersOf({
    batch_id: BusinessKey,
    currency: CurrencyCode,
    currency_network: CurrencyCode,
    required_confirmations: Count,
    addresses: v.pipe(
      v.array(membersOf({ address: ChainAddress, tag: ProvisionedTag })),
      v.minLength(1, 'must not be empty'),
      v.check(
        (all) => new Set(all.map((one) => addressDigest({ network: '', ...one }))).size === all.length,
        'must not name an address twice',
      ),
    ),
  }),
  key: ({ batch_id }) => batch_id,
  rejections: ['address_taken'],
  content: ({ addresses, ...batch }) => ({
    ...batch,
    addresses: addresses.map(({ address, tag }) => [foldAddress(address), foldTag(tag) ?? null]),
  }),
  async apply({ addresses, ...batch }, record) {
    const { currency, currency_network: network } = batch
    const pool = { currency, network }
    // The chunks have records of their own, which do not tell whether the batch was refused.
    const [known] = await Promise.all([
      readAddresses(addresses.map((address) => ({ network, ...address }))),
      findOutcome(record),
    ])
    const chunks = splitBatch(record, { ...batch, addresses })
    const isOwn = ({ batch_id }: AddressItem) => batch_id === batch.batch_id
    // Chunks are there only if an earlier try ended before it took them back.
    if (!known.every(isOwn)) throw await rejectBatch(known.some(isOwn) ? chunks : [])
    const results: Result[] = []
    for (const { record: own, addresses: some } of chunks)
      try {
        const writes = some.flatMap(({ digest, item }) => [
          putAddress(digest, item),
          putFreeAddress(pool, digest),
        ])
        results.push(await applyOnce(own, writes))
      } catch (error) {
        // The condition fails if another batch has added one of these addresses since `readAddresses`.
        throw error instanceof ConditionFailed ? await rejectBatch(chunks) : error
      }
    results.push(await applyOnce(record, [putPool(pool)]))
    return { outcome: results.some(({ outcome }) => outcome === 'applied') ? 'applied' : 'duplicate' }
  },
})

/** A part of a batch that is written in one transaction: its addresses and the record of the part. */
interface Chunk {
  record: EventRecord
  addresses: { digest: string; item: AddressItem }[]
}

type Batch = Omit<AddressItem, 'address' | 'tag' | 'user_id'> & {
  addresses: Pick<AddressItem, 'address' | 'tag'>[]
}

/** Splits a batch into chunks; `record` is the record of the whole batch. */
function splitBatch(record: EventRecord, { addresses, ...batch }: Batch): Chunk[] {
  const items = addresses.map((address) => ({
    digest: addressDigest({ network: batch.currency_network, ...address }),
    item: { ...batch, ...address },
  }))
  return Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, number) => ({
    record: {
      ...record,
      detailType: `${record.detailType}.chunk`,
      businessKey: `${number}#${record.businessKey}`,
    },
    addresses: items.slice(number * chunkSize, (number + 1) * chunkSize),
  }))
}

/** Takes back those chunks of a batch that were written, and resolves with the reason why it is rejected. */
async function rejectBatch(chunks: readonly Chunk[]): Promise<RejectedEvent> {
  for (const { record, addresses } of chunks)
    // The conditions fail if the chunk is not there, or if a user was given an address of it: then it stays.
    await tryTransact([
      dropEventRecord(record),
      ...addresses.flatMap(({ digest, item }) => [
        dropAddress(digest, item.batch_id),
        dropFromPool({ currency: item.currency, network: item.currency_network }, digest),
      ]),
    ])
  return new RejectedEvent('address_taken')
}
