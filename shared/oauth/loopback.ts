/** A loopback address: scheme, host, port where there is one, and the rest. */
const shape = /^(https?):\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?([/?].*)?$/

/** What a loopback address says apart from its port, or undefined where an address is of no loopback host (RFC 8252 §7.3). */
export function loopbackWithoutPort(uri: string): string | undefined {
  const parts = shape.exec(uri)
  if (parts === null || Number(parts[3] ?? '0') > 65_535) return undefined
  return `${parts[1]}://${parts[2]}${parts[4] ?? ''}`
}
