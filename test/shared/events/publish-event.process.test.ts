import { expect, it } from 'vitest'
import type { Manners } from '../../../infra/local/manners.ts'
import { useOwnEndpoint } from '../../support/own-endpoint.ts'

/** How many of the next entries are throttled. */
let throttles = 0
const manners: Manners = {
  speed: 1,
  has: () => false,
  draw: () => 0,
  happens: (manner, stream) => manner === 'throttles' && stream.endsWith(' entry') && (throttles -= 1) >= 0,
}
useOwnEndpoint(manners)

it('an event is published although the bus throttles its entry, which the SDK does not repeat', async () => {
  process.env['EVENT_BUS_NAME'] = 'events'
  const { publishEvent } = await import('../../../shared/events/publish-event.ts')
  throttles = 3
  await publishEvent('mail.requested', { mail_id: '1' })
  expect(throttles).toBe(-1)
  process.env['EVENT_BUS_NAME'] = 'none'
  throttles = 0
  await expect(publishEvent('mail.requested', { mail_id: '1' })).rejects.toThrow()
  expect(throttles).toBe(-1)
})
