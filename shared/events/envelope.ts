import type { SQSRecord } from 'aws-lambda'
import { ownSource } from '../env.ts'
import { isObject } from '../is-object.ts'
import { isTooComplex } from '../is-too-complex.ts'
import { RejectedEvent } from './rejected-event.ts'

/** The envelope in which EventBridge delivers an event. Its fields are not validated. */
export interface Envelope {
  detail?: unknown
  /** When the event was first sent, ISO 8601. */
  time?: unknown
  /** Name of the replay that sent the event again; senders cannot set it. */
  'replay-name'?: unknown
}

/** Reads the envelope in a message. Throws RejectedEvent if there is none, or if it would be harmful. */
export function readEnvelope(body: string): Envelope {
  if (isTooComplex(body)) throw new RejectedEvent('too_complex')
  try {
    const value: unknown = JSON.parse(body)
    if (isObject(value)) return value
  } catch {
    // Text that is not JSON is rejected like JSON that is not an object.
  }
  throw new RejectedEvent('malformed_event')
}

/** Matches the beginning of an event, up to its id. Parsing the whole text could be harmful. */
const eventHead = /^\{(?:"version":"0",)?"id":"([\w-]{1,64})"/

/** The id that the bus gave an event; undefined if the message is not from a bus. */
export const eventIdIn = (body: string): string | undefined => eventHead.exec(body)?.[1]

/** Matches the beginning of an event, up to its source. No text of a sender's can come before it. */
const sourceHead =
  /^\{(?:"version":"0",)?"id":"[\w-]{1,64}","detail-type":"[\w.]{1,128}","source":"([^"\\]{1,256})"/

/** Whether the service itself has sent an event, so that nobody is to be told what became of it. */
export const isOwn = ({ body }: SQSRecord): boolean => sourceHead.exec(body)?.[1] === ownSource
