import { randomUUID } from 'node:crypto'

/** What a sender says about an event. */
export interface NewEvent {
  source: string
  detailType: string
  /** JSON text of an object; it reaches the targets byte by byte, so no number in it is ever rounded. */
  detail: string
  resources: string[]
  /** Epoch milliseconds. */
  at: number
}

/** An event as its targets get it. */
export interface Envelope {
  id: string
  text: string
  /** All of it but the detail, for the patterns. */
  head: Record<string, unknown>
}

/** Puts an event into the envelope in which EventBridge delivers it. */
export function sealEvent(event: NewEvent, account: { accountId: string; region: string }): Envelope {
  const id = randomUUID()
  const head = {
    version: '0',
    id,
    'detail-type': event.detailType,
    source: event.source,
    account: account.accountId,
    time: new Date(event.at).toISOString().replace(/\.\d+Z$/, 'Z'),
    region: account.region,
    resources: event.resources,
  }
  return { id, text: `${JSON.stringify(head).slice(0, -1)},"detail":${event.detail}}`, head }
}
