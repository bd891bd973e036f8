import * as v from 'valibot'
import { addressDigest } from '../../shared/deposits/address.ts'
import { ChainAddress, foldAddress, foldTag, ProvisionedTag } from '../../shared/deposits/identity.ts'
import { provisionAddresses } from '../../shared/deposits/provision-addresses.ts'
import { intake } from '../../shared/events/intake.ts'
import { BusinessKey, Count, CurrencyCode, membersOf } from '../../shared/fields.ts'

/** Adds a batch of deposit addresses to the pool of their currency and network, or none of them. */
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
  content: ({ addresses, ...batch }) => ({
    ...batch,
    addresses: addresses.map(({ address, tag }) => [foldAddress(address), foldTag(tag) ?? null]),
  }),
  rejections: ['address_taken'],
  apply: ({ addresses, ...batch }, record) =>
    provisionAddresses(
      addresses.map((address) => ({ ...batch, ...address })),
      record,
    ),
})
