import { generateMac, macKeyIds } from '../aws/generate-mac.ts'
import type { EventRecord } from './event-record.ts'

/**
 * Returns the record of an event that contains a secret, with a MAC instead of the plain digest. The other
 * fields of such an event are readable in the table, so with a plain SHA-256 the secret could be guessed
 * offline from a stolen table. `olderDigests` are MACs by older keys, for earlier deliveries.
 */
export async function withMacDigest(record: EventRecord): Promise<EventRecord> {
  const text = `${record.detailType}:${record.digest}`
  const macs = await Promise.all(macKeyIds().map((keyId) => generateMac('event', text, keyId)))
  const [digest = '', ...olderDigests] = macs.map((mac) => Buffer.from(mac).toString('base64url'))
  return { ...record, digest, olderDigests }
}
