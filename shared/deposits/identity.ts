import * as v from 'valibot'
import { maybe } from '../fields.ts'

/** A transaction id of 32 bytes in hexadecimal digits, as Bitcoin, Ethereum and most other chains have it. */
const hexTxid = /^(?:0x)?[0-9a-f]{64}$/i

/** An address of 20 or 32 bytes in hexadecimal digits. The case of its letters is a checksum (EIP-55). */
const hexAddress = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i

/**
 * An address in bech32 or bech32m (BIP-173, BIP-350): one case throughout, a readable part, the separator
 * `1`, and from 11 characters of the alphabet, of which the last six are the checksum. The checksum is not
 * computed: a wrong one makes an address that nobody has, in either case.
 */
const bech32 = /^(?:[a-z_]{1,83}1[02-9ac-hj-np-z]{11,}|[A-Z_]{1,83}1[02-9AC-HJ-NP-Z]{11,})$/

const printable = (max: number) =>
  v.regex(
    new RegExp(String.raw`^[\x21-\x7e]{1,${max}}$`),
    `must be 1 to ${max} printable characters without spaces`,
  )

/** Schema of the id of a transaction on a blockchain, as its sender writes it. Compare its foldTxid. */
export const Txid = v.pipe(
  v.string(),
  printable(128),
  v.description(
    'Of 64 hexadecimal digits: with or without `0x`, in any case, one transaction. Any other compares byte by byte.',
  ),
)

/** Schema of an address on a blockchain, as its sender writes it. Compare its foldAddress. */
export const ChainAddress = v.pipe(
  v.string(),
  printable(256),
  v.description(
    'Of `0x` and 40 or 64 hexadecimal digits: one address in any case. In bech32: one in upper and in lower case. Any other compares byte by byte.',
  ),
)

const digits = /^\d+$/

/**
 * Schema of the tag (or memo) that tells users of a shared address apart. An empty tag counts as no tag. Tags
 * of digits compare as numbers (see foldTag).
 */
export const AddressTag = v.pipe(
  maybe(
    v.pipe(
      v.string(),
      v.regex(/^[\x21-\x7e]{0,128}$/, 'must be at most 128 printable characters without spaces'),
      v.description('Of digits only: compares as a number. Any other compares byte by byte.'),
    ),
  ),
  v.transform((tag) => (tag === '' ? undefined : tag)),
)

/** Schema of a tag that is provisioned: if it has only digits, then none before the number. */
export const ProvisionedTag = v.pipe(
  AddressTag,
  v.check((tag) => tag === foldTag(tag), 'must have no leading zeros if it has only digits'),
)

/** The one form in which all spellings of a transaction's id are equal. */
export const foldTxid = (txid: string): string => (hexTxid.test(txid) ? txid.slice(-64).toLowerCase() : txid)

/** The one form in which all spellings of an address are equal. */
export const foldAddress = (address: string): string =>
  hexAddress.test(address) || bech32.test(address) ? address.toLowerCase() : address

/** The one form in which all spellings of a tag are equal. */
export const foldTag = (tag: string | undefined): string | undefined =>
  tag !== undefined && digits.test(tag) ? tag.replace(/^0+(?=\d)/, '') : tag
