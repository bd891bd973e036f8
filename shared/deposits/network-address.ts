import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { maybe } from '../events/fields.ts'

/** An address on a chain, as its network spells it. */
export const ChainAddress = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 printable characters without spaces'),
)

/** What tells apart the users of a shared address, on networks that have such; an empty one counts as none. */
export const AddressTag = v.pipe(
  maybe(v.pipe(v.string(), v.regex(/^[\x20-\x7e]{0,128}$/, 'must be at most 128 printable characters'))),
  v.transform((tag) => (tag === '' ? undefined : tag)),
)

/** An address and tag on a network: what a deposit is sent to. */
export interface NetworkAddress {
  network: string
  address: string
  tag?: string | undefined
}

/** A short name for an address and tag on a network, unambiguous and spread evenly. */
export const addressDigest = ({ network, address, tag }: NetworkAddress): string =>
  createHash('sha256')
    .update(JSON.stringify([network, address, tag ?? null]))
    .digest('base64url')
