import { isIPv4, isIPv6 } from 'node:net'

/**
 * The network that a request counts for: an IPv4 address, or the /64 of an IPv6 address, which is what one customer
 * is given at least (RFC 6177 §2). An IPv4 address inside IPv6 (RFC 4291 §2.5.5.2) counts as itself.
 */
export function sourceNetwork(address: string): string {
  if (isIPv4(address)) return address
  const bare = address.split('%')[0] ?? ''
  if (!isIPv6(bare)) return 'unknown'
  // The URL parser writes any spelling in one way: lower case, one `::`, no dots (WHATWG URL §3.5).
  const groups = expand(new URL(`http://[${bare}]/`).hostname.slice(1, -1))
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return dotted(groups)
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** The eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after]
}

/** The IPv4 address in the last two groups. */
const dotted = (groups: string[]): string =>
  groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 255])
    .join('.')
