import type { EventRecord } from '../events/event-record.ts'
import { generateMac } from './generate-mac.ts'

/**
 * The record of an event that carries a password or another secret. Its digest is put under a MAC: all else in such an
 * event can be read in the table, so a bare SHA-256 would let a thief of the table guess the secret offline.
 */
export async function withMacDigest(record: EventRecord): Promise<EventRecord> {
  const mac = await generateMac('event', `${record.detailType}:${record.digest}`)
  return { ...record, digest: Buffer.from(mac).toString('base64url') }
}
