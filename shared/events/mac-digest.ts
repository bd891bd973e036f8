import { generateMac } from '../aws/generate-mac.ts'
import type { EventRecord } from './event-record.ts'

/**
 * Creates the record of an event that contains a secret, with its digest under a MAC. The rest of such an
 * event can be read in the table, so with a plain SHA-256 a stolen table would allow guessing the secret
 * offline.
 */
export async function withMacDigest(record: EventRecord): Promise<EventRecord> {
  const mac = await generateMac('event', `${record.detailType}:${record.digest}`)
  return { ...record, digest: Buffer.from(mac).toString('base64url') }
}
