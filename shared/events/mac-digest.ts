import { generateMac, macKeyIds } from '../aws/generate-mac.ts'
import type { EventRecord } from './event-record.ts'

/**
 * Returns the record with a MAC as its digest, for an event that contains a secret: a plain hash would allow
 * guessing the secret. `olderDigests` are MACs with older keys.
 */
export async function withMacDigest(record: EventRecord): Promise<EventRecord> {
  const text = `${record.detailType}:${record.digest}`
  const macs = await Promise.all(macKeyIds().map((keyId) => generateMac('event', text, keyId)))
  const [digest = '', ...olderDigests] = macs.map((mac) => Buffer.from(mac).toString('base64url'))
  return { ...record, digest, olderDigests }
}
