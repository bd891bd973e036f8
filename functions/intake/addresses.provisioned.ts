import * as v from 'valibot'
import { AddressTag, ChainAddress } from '../../shared/deposits/address.ts'
import { provisionAddresses } from '../../shared/deposits/provision-addresses.ts'
import { BusinessKey, Count, CurrencyCode } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'

/** Adds deposit addresses to the pool of their currency and network. */
export const handler = intake({
  detailType: 'addresses.provisioned',
  detail: v.object({
    batch_id: BusinessKey,
    currency: CurrencyCode,
    currency_network: CurrencyCode,
    required_confirmations: Count,
    addresses: v.pipe(
      v.array(v.object({ address: ChainAddress, tag: AddressTag })),
      v.minLength(1, 'must not be empty'),
      v.check(
        (all) =>
          new Set(all.map(({ address, tag }) => JSON.stringify([address, tag ?? null]))).size === all.length,
        'must not name an address twice',
      ),
    ),
  }),
  key: ({ batch_id }) => batch_id,
  rejections: ['address_taken'],
  apply: provisionAddresses,
})
