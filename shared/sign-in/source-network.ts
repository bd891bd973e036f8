import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'

/**
 * Returns the source network that a request is counted under: the IPv4 address, or the /64 of an IPv6
 * address, which is the smallest network that a customer gets (RFC 6177 §2). An IPv4-mapped IPv6 address (RFC
 * 4291 §2.5.5.2) counts as its IPv4 address.
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

/** Expands an IPv6 address to its eight groups. */
function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after]
}

/** Reads the IPv4 address in the last two groups of an IPv4-mapped IPv6 address. */
const mappedIpv4 = (groups: string[]): string =>
  groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 255])
    .join('.')

/** A short digest of a source network, by which a user's known networks are remembered. */
export const networkDigest = (network: string): string =>
  createHash('sha256').update(network).digest().subarray(0, 8).toString('base64url')
