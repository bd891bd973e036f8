import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { publishEvent } from '../../../shared/events/publish-event.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

/** Makes the bus refuse one entry for each of these error codes, and accept later entries. */
function refuseEntries(...codes: string[]): { calls: () => number } {
  let calls = 0
  tampering = tamperCalls(async () => {
    const ErrorCode = codes[calls]
    calls += 1
    return { Entries: [ErrorCode === undefined ? { EventId: 'id' } : { ErrorCode }] }
  })
  return { calls: () => calls }
}
let tampering: { restore: () => void } | undefined
afterEach(() => tampering?.restore())

beforeEach(() => void vi.stubEnv('EVENT_BUS_NAME', 'events'))
const publish = () => publishEvent('mail.requested', { mail_id: '1' })

it('an event is sent again until the bus no longer throttles its entry', async () => {
  const { calls } = refuseEntries(...Array.from({ length: 3 }, () => 'ThrottlingException'))
  await publish()
  expect(calls()).toBe(4)
})

it('an event is not sent again if the bus refuses its entry with a permanent error', async () => {
  const { calls } = refuseEntries('InvalidArgument')
  await expect(publish()).rejects.toThrow()
  expect(calls()).toBe(1)
})
