import { expect, it } from 'vitest'
import { readEnvelope } from '../../../shared/events/envelope.ts'

it.each(['', 'no JSON', 'null', '1', '"text"', '[]', '[{"detail":{}}]'])(
  'the message %j is refused, because it is not a JSON object',
  (body) => {
    expect(() => readEnvelope(body)).toThrow('malformed_event: the message is not a JSON object')
  },
)
