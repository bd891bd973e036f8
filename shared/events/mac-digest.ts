import { generateMac } from '../aws/generate-mac.ts'
import type { EventRecord } from './event-record.ts'

/**
 * Returns the record of an event that contains a secret, with a MAC instead of the plain digest. The other
 * fields of such an event are readable in the table, so with a plain SHA-256 the secret could be guessed
 * offline from a stolen table.
 */
export async function withMacDigest(record: EventRecord): Promise<EventRecord> {
  const mac = await generateMac('event', `${record.detailType}:${record.digest}`)
  return { ...record, digest: Buffer.from(mac).toString('base64url') }
}
