import * as v from 'valibot'
import { ConditionFailed } from '../../shared/db/write.ts'
import {
  addressDigest,
  putAddress,
  putFreeAddress,
  putPool,
  readAddresses,
} from '../../shared/deposits/address.ts'
import { ChainAddress, foldAddress, foldTag, ProvisionedTag } from '../../shared/deposits/identity.ts'
import { applyOnce, findOutcome } from '../../shared/events/event-record.ts'
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
 * `batch_id`, so a recorded batch is complete.
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
    if (known.some(({ batch_id }) => batch_id !== batch.batch_id)) throw new RejectedEvent('address_taken')
    const results: Result[] = []
    for (let start = 0; start < addresses.length; start += chunkSize) {
      const writes = addresses.slice(start, start + chunkSize).flatMap((address) => {
        const digest = addressDigest({ network, ...address })
        return [putAddress(digest, { ...batch, ...address }), putFreeAddress(pool, digest)]
      })
      const detailType = `${record.detailType}.chunk`
      const businessKey = `${start / chunkSize}#${record.businessKey}`
      try {
        results.push(await applyOnce({ ...record, detailType, businessKey }, writes))
      } catch (error) {
        // The condition fails if another batch has added one of these addresses since `readAddresses`.
        throw error instanceof ConditionFailed ? new RejectedEvent('address_taken') : error
      }
    }
    results.push(await applyOnce(record, [putPool(pool)]))
    return { outcome: results.some(({ outcome }) => outcome === 'applied') ? 'applied' : 'duplicate' }
  },
})
