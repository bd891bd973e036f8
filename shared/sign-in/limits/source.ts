import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { itemType } from '../../db/item-type.ts'
import type { Item, Key } from '../../db/table.ts'
import { expiredAttributes, giveBackTry, reserveTry, secondsUntilBelow } from './tries.ts'

/**
 * Returns the network under which an address is counted: an IPv4 address, or the /64 of an IPv6 address,
 * because a customer gets at least a /64 (RFC 6177 §2). An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2)
 * counts as its IPv4 address.
 */
export function sourceNetwork(address: string): string {
  if (isIPv4(address)) return address
  const bare = address.split('%')[0] ?? ''
  if (!isIPv6(bare)) return 'unknown'
  // The URL parser normalizes any spelling of an IPv6 address: lower case, one `::`, no dots (WHATWG URL
  // §3.5).
  const groups = expandIpv6(new URL(`http://[${bare}]/`).hostname.slice(1, -1))
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return mappedIpv4(groups)
  return `${groups.slice(0, 4).join(':')}::/64`
}

function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after]
}

const mappedIpv4 = (groups: string[]): string =>
  groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 255])
    .join('.')

/** Length of a network's digest in bytes: enough that two networks hardly ever have the same digest. */
const digestBytes = 5

/** A short digest of a source network. One is stored for each of a user's known networks. */
export const networkDigest = (network: string): string =>
  createHash('sha256').update(network).digest().subarray(0, digestBytes).toString('base64url')

/** Maximum number of source networks that are remembered for a user; only the latest are kept. */
const maxNetworks = 64

/** Splits the bytes that addNetwork has returned into digests of networks. */
export const splitNetworks = (joined: Uint8Array): string[] =>
  Array.from({ length: joined.length / digestBytes }, (_, i) =>
    Buffer.from(joined.subarray(i * digestBytes, (i + 1) * digestBytes)).toString('base64url'),
  )

/** Joins the digests of the networks from which a user signed in, the latest sign-in first. */
export const addNetwork = (networks: readonly string[], latest: string): Uint8Array =>
  Buffer.concat(
    [latest, ...networks.filter((known) => known !== latest)]
      .slice(0, maxNetworks)
      .map((digest) => Buffer.from(digest, 'base64url')),
  )

const sources = itemType({
  pk: 'GUESS#{network}',
  sk: 'SOURCE',
  holds: 'wrong passwords per minute from a source network, over all accounts and for each account',
  found: 'by source network',
})

/**
 * A source network, together with an account for which it tries passwords. A network's counters for all
 * accounts are in one item.
 */
export interface Source {
  key: Key
  /** Name of the counter for tries on this account from this network. */
  account: string
}

/** Name of the counter of a network's password tries for all accounts together. */
const all = 'all'

/**
 * Maximum numbers of wrong passwords from one network in an hour: for one account, and for all accounts
 * together.
 */
const maxWrong = { account: 10, all: 100 }

/** Tells where password tries are counted: the network's item, and in it a counter for the email address. */
export const guessSource = (network: string, normalizedEmail: string): Source => ({
  key: sources.key({ network }),
  // A hash of 72 bits: two addresses hardly ever share a counter. If they do, their tries add up.
  account: createHash('sha256').update(normalizedEmail).digest().subarray(0, 9).toString('base64url'),
})

/**
 * Seconds until a source can try a password again; 0 if it can try now. `counted` is 1 if `item` already
 * counts the current try, and 0 otherwise.
 */
export const secondsUntilAllowed = (
  { account }: Source,
  item: Item | undefined,
  now: number,
  counted = 0,
): number =>
  Math.max(
    secondsUntilBelow(item, account, { limit: maxWrong.account + counted, now }),
    secondsUntilBelow(item, all, { limit: maxWrong.all + counted, now }),
  )

/** Counts a try from a source, and removes expired counts. `known` is the item that was read before. */
export const reserveSourceTry = (
  { key, account }: Source,
  known: Item | undefined,
  now: number,
): Promise<Item> =>
  reserveTry(key, [all, account], now, { isRecord: false, expired: expiredAttributes(known, now) })

/** Subtracts a try that reserveSourceTry has counted. */
export const giveBackSourceTry = ({ key, account }: Source, reservedAt: number): Promise<Item> =>
  giveBackTry(key, [all, account], reservedAt)
