import { expect, it } from 'vitest'
import { archivedPattern, outcomesPattern, takenPattern, untakenPattern } from '../../infra/event-patterns.ts'
import { compilePattern } from '../../infra/local/aws/eventbridge/pattern.ts'
import { events, outsideSenders } from '../../infra/events.ts'
import { outcomeTypes } from '../../shared/events/outcome.ts'

const sources = [...outsideSenders, 'account-service', 'Business', 'stranger']
const detailTypes = [...events.map(({ detailType }) => detailType), 'user.deleted', 'User.registered']

function deliveries(stage: string, source: string, detailType: string): string[] {
  const event = { source, 'detail-type': detailType, detail: {} }
  const taken = events.filter((row) => compilePattern(writtenPattern(stage, row))(event))
  const unmatched = compilePattern(untakenPattern(stage, events))(event) ? ['unmatched'] : []
  return [...taken.map((row) => row.detailType), ...unmatched]
}

function writtenPattern(stage: string, row: (typeof events)[number]) {
  const { detailType, ...rest } = takenPattern(stage, row)
  return { ...rest, 'detail-type': detailType }
}

it.each(['prod', 'local'])('on stage %s every event goes to exactly one queue', (stage) => {
  for (const detailType of detailTypes)
    for (const source of sources)
      expect(deliveries(stage, source, detailType), `${detailType} from ${source}`).toHaveLength(1)
})

it('a deployment accepts an event only from a sender that may send the event’s detail-type', () => {
  for (const { detailType, senders } of events)
    for (const source of sources)
      expect(deliveries('prod', source, detailType), `${detailType} from ${source}`).toEqual(
        (senders as readonly string[]).includes(source) ? [detailType] : ['unmatched'],
      )
})

it('the local stack accepts an event from anybody, but mail.requested only from the service itself', () => {
  expect(deliveries('local', 'stranger', 'wallet.adjusted')).toEqual(['wallet.adjusted'])
  expect(deliveries('local', 'stranger', 'mail.requested')).toEqual(['unmatched'])
  expect(deliveries('local', 'account-service', 'mail.requested')).toEqual(['mail.requested'])
})

it('the pattern of the rule for unmatched events stays below EventBridge’s 2,048 characters', () => {
  expect(JSON.stringify(untakenPattern('prod', events)).length).toBeLessThan(2_048)
})

it.each(['prod', 'local'])(
  'on stage %s an outcome reaches listeners only: no function, archive or unmatched queue',
  (stage) => {
    const { 'detail-type': archived } = { 'detail-type': archivedPattern(events).detailType }
    for (const detailType of outcomeTypes) {
      expect(deliveries(stage, 'account-service', detailType)).toEqual([])
      const event = { source: 'account-service', 'detail-type': detailType }
      expect(compilePattern({ 'detail-type': archived })(event)).toBe(false)
      const { detailType: types, ...rest } = outcomesPattern
      expect(compilePattern({ ...rest, 'detail-type': types })(event)).toBe(true)
    }
  },
)

it.each(['prod', 'local'])('on stage %s an outcome from anybody but the service is unmatched', (stage) => {
  for (const detailType of outcomeTypes)
    for (const source of sources.filter((one) => one !== 'account-service'))
      expect(deliveries(stage, source, detailType), source).toEqual(['unmatched'])
})
