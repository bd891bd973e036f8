import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../../infra/local/aws/eventbridge/pattern.ts'
import { events } from '../../../infra/events.ts'
import { ofType, synthesizeUnchecked } from './synthesize.ts'

const stacks = await synthesizeUnchecked('prod')

function find(type: string) {
  const [found, ...others] = ofType(stacks, type)
  expect([found?.stack, ...others]).toEqual(['data'])
  return found?.resource ?? expect.unreachable()
}

describe('the archive of events', () => {
  // A replay must not send mails again.
  it('the archive keeps all events but mails, even unknown ones', () => {
    const { Properties } = find('AWS::Events::Archive')
    const isKept = compilePattern(Properties['EventPattern'] as Record<string, unknown>)
    const detailTypes = [...events.map(({ detailType }) => detailType), 'user.deleted']
    const left = detailTypes.filter((name) => !isKept({ source: 'business', 'detail-type': name }))
    expect(left).toEqual(['mail.requested', 'mail.delayed'])
  })

  it('the archive keeps events for ever', () => {
    expect(find('AWS::Events::Archive').Properties['RetentionDays']).toBe(0)
  })

  it('the archive encrypts events with the key for events that hold secrets', () => {
    const { Properties } = find('AWS::Events::Archive')
    expect(JSON.stringify(Properties['KmsKeyIdentifier'])).toContain('EventKey')
  })

  it.each(['AWS::Events::Archive', 'AWS::Events::EventBus'])('%s is kept if its stack is deleted', (type) => {
    expect(find(type)).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate' })
  })
})
