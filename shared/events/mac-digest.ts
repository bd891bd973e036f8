import { generateMac, macKeyIds } from '../aws/generate-mac.ts'
import type { EventRecord } from './event-record.ts'

/**
 * Replaces the digest in an event's record by a MAC, for an event that contains a secret. With a plain
 * SHA-256, whoever steals the table could try secrets until one matches. `olderDigests` are MACs by older
 * keys.
 */
export async function withMacDigest(record: EventRecord): Promise<EventRecord> {
  const text = `${record.detailType}:${record.digest}`
  const macs = await Promise.all(macKeyIds().map((keyId) => generateMac('event', text, keyId)))
  const [digest = '', ...olderDigests] = macs.map((mac) => Buffer.from(mac).toString('base64url'))
  return { ...record, digest, olderDigests }
}
