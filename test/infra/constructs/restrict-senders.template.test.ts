import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { EventBus } from 'aws-cdk-lib/aws-events'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { restrictSenders } from '../../../infra/constructs/restrict-senders.ts'
import { compilePolicies, evaluatePolicy } from '../../../infra/local/aws/iam/policy.ts'
import type { PolicyStatement } from '../../../infra/local/model.ts'
import { configured } from '../../support/configured-stage.ts'

const account = '111122223333'
const role = (name: string) => `arn:aws:iam::${account}:role/${name}`
const senders = {
  business: [role('shop')],
  chain: [role('watcher'), role('watcher-2')],
  operator: [role('on-call')],
}

function statements(knob: object): PolicyStatement[] {
  const stack = new Stack(new App({ builtinCloudFormationValidation: false }), 'Stack')
  restrictSenders(new EventBus(stack, 'Bus'), readConfig({ ...configured, stage: 'prod', senders: knob }))
  const policies = Template.fromStack(stack).findResources('AWS::Events::EventBusPolicy') as Record<
    string,
    { Properties: { Statement: PolicyStatement } }
  >
  return Object.values(policies).map(({ Properties: { Statement } }) => ({ ...Statement, Resource: '*' }))
}

/** The decision of the bus's policy if a role puts an event; undefined if no statement applies. */
function decide(knob: object, roleArn: string, source: string | string[], detailType: string, tags = {}) {
  const policy = compilePolicies([{ Statement: statements(knob) }], 'the bus')
  const context = new Map<string, string | string[]>([
    ['events:source', [source].flat()],
    ['events:detail-type', detailType],
    ['aws:principalarn', roleArn],
    ...Object.entries(tags).map(([name, value]) => [`aws:principaltag/${name}`, String(value)] as const),
  ])
  const principal = { kind: 'role', roleArn, accountId: account } as const
  return evaluatePolicy(policy, { action: 'events:PutEvents', resource: 'bus', principal, context })
}

describe('the policy of the bus', () => {
  const own = { service: 'account-service', stage: 'prod' }

  it.each([
    ['a role of the stage', own, undefined],
    ['a role of another stage', { ...own, stage: 'dev' }, 'Deny'],
    ['a role of another service', { ...own, service: 'shop' }, 'Deny'],
    ['a role without tags', {}, 'Deny'],
  ])(
    'if %s sends an event with the source account-service, the decision of the bus’s policy is %s',
    (_who, tags, decision) => {
      for (const knob of [{}, senders])
        expect(decide(knob, role('fn'), 'account-service', 'mail.requested', tags)).toBe(decision)
    },
  )

  it.each([
    ['shop', 'business', 'wallet.transferred', 'Allow'],
    ['watcher-2', 'chain', 'deposit.updated', 'Allow'],
    ['on-call', 'operator', 'address.assigned', 'Allow'],
    ['shop', 'business', 'deposit.updated', undefined],
    ['shop', 'chain', 'deposit.updated', 'Deny'],
    ['watcher', 'business', 'wallet.transferred', 'Deny'],
    ['stranger', 'business', 'user.updated', 'Deny'],
    ['stranger', 'rewards', 'reward.granted', undefined],
    // In each of these two rows, the role sends events of two sources in one PutEvents call.
    ['stranger', ['rewards', 'account-service'], 'mail.requested', 'Deny'],
    ['stranger', ['rewards', 'business'], 'wallet.transferred', 'Deny'],
  ])(
    'if role %s sends an event with source %s and type %s, the policy of the bus decides %s',
    (name, source, detailType, decision) => {
      expect(decide(senders, role(name), source, detailType)).toBe(decision)
    },
  )

  it.each([
    [{ business: [] }],
    [{ shop: [role('shop')] }],
    [{ business: ['arn:aws:iam::111122223333:root'] }],
  ])('readConfig rejects senders that the policy of the bus cannot contain: %j', (knob) => {
    expect(() => statements(knob)).toThrow('senders')
  })

  it('with all four senders, the policy of the bus stays below EventBridge’s 10 KB', () => {
    const all = Object.fromEntries(
      ['business', 'chain', 'rewards', 'operator'].map((name) => [name, [role(name), role(`${name}-2`)]]),
    )
    expect(JSON.stringify(statements(all)).length).toBeLessThan(9_000)
  })
})
