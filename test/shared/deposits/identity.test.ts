import * as v from 'valibot'
import { expect, it } from 'vitest'
import { addressDigest } from '../../../shared/deposits/address.ts'
import { depositId } from '../../../shared/deposits/deposit.ts'
import {
  AddressTag,
  foldAddress,
  foldTag,
  foldTxid,
  ProvisionedTag,
} from '../../../shared/deposits/identity.ts'

const hex = 'aB'.repeat(32)
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
// Examples of BIP-173, BIP-350 and CIP-19, and one of gno.land, whose readable part is one letter.
const segwit = 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'
const taproot = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'
const cardano =
  'addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x'
const gno = 'g1jg8mtutu9khhfwc4nxmuhcpftf0pajdhfvsqf5'
const base58 = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

it.each([
  ['a txid in lower case', foldTxid, hex, hex.toLowerCase()],
  ['a txid with 0x', foldTxid, hex, `0x${hex}`],
  ['a txid with 0X', foldTxid, hex, `0X${hex.toUpperCase()}`],
  ['an address of 40 digits', foldAddress, checksummed, checksummed.toLowerCase()],
  ['an address of 40 digits in upper case', foldAddress, checksummed, checksummed.toUpperCase()],
  ['an address of 64 digits', foldAddress, `0x${hex}`, `0x${hex.toUpperCase()}`],
  ['a segwit address', foldAddress, segwit, segwit.toLowerCase()],
  ['a taproot address', foldAddress, taproot, taproot.toUpperCase()],
  ['a Cardano address', foldAddress, cardano, cardano.toUpperCase()],
  ['an address of gno.land', foldAddress, gno, gno.toUpperCase()],
  ['a tag with leading zeros', foldTag, '123', '00123'],
  ['a tag of zeros', foldTag, '0', '000'],
])(
  '%s is the same as its other spelling',
  (_what, fold: (text: string) => string | undefined, one, other) => {
    expect(fold(other)).toBe(fold(one))
  },
)

it.each([
  ['txids in base58 or another length', foldTxid, `${hex}ab`, `${hex}AB`],
  ['txids of 63 digits', foldTxid, hex.slice(1), hex.slice(1).toLowerCase()],
  ['base58 addresses', foldAddress, base58, base58.toLowerCase()],
  ['base58 addresses in one case', foldAddress, base58.toUpperCase(), base58.toLowerCase()],
  [
    'addresses of 40 digits without 0x',
    foldAddress,
    checksummed.slice(2),
    checksummed.slice(2).toLowerCase(),
  ],
  ['addresses of 41 digits', foldAddress, `${checksummed}A`, `${checksummed}a`],
  ['bech32 in both cases, which BIP-173 refuses', foldAddress, segwit, `bc1${segwit.slice(3)}`],
  ['what has a letter that bech32 lacks', foldAddress, `${segwit}B`, `${segwit}B`.toLowerCase()],
  ['what has no separator', foldAddress, 'ALICE.NEAR', 'alice.near'],
  ['tags with letters', foldTag, 'memo', 'MEMO'],
  ['tags of digits and letters', foldTag, '07a', '7a'],
  ['tags of numbers', foldTag, '7', '70'],
])('%s compare byte by byte', (_what, fold: (text: string) => string | undefined, one, other) => {
  expect(fold(one)).not.toBe(fold(other))
})

it('a deposit and an address have one key for all spellings', () => {
  const at = { network: 'ETH', outputIndex: 0 }
  expect(depositId({ ...at, txid: `0x${hex}` })).toBe(depositId({ ...at, txid: hex.toLowerCase() }))
  expect(addressDigest({ network: 'ETH', address: checksummed, tag: '007' })).toBe(
    addressDigest({ network: 'ETH', address: checksummed.toLowerCase(), tag: '7' }),
  )
})

it.each(['123 ', ' ', ' 1', 'a b', 'a\tb'])('a tag is refused if it has white space: %j', (tag) => {
  expect(v.is(AddressTag, tag)).toBe(false)
})

it('a tag of digits only is provisioned without leading zeros', () => {
  expect(['00123', '00', '01'].filter((tag) => v.is(ProvisionedTag, tag))).toEqual([])
  expect(['123', '0', '0a', '', null].filter((tag) => v.is(ProvisionedTag, tag))).toHaveLength(5)
})
