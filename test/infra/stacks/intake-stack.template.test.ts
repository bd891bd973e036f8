import { describe, expect, it } from 'vitest'
import { events } from '../../../infra/events.ts'
import { maxReceives } from '../../../shared/events/delivery.ts'
import { ofType, type Stacks, synthesizeUnchecked } from './synthesize.ts'

interface Statement {
  Effect: string
  Action?: string | string[]
  Resource: unknown
  Principal?: unknown
  Condition?: Record<string, Record<string, unknown>>
}

const operator = 'arn:aws:iam::111122223333:role/operators'
const confidential = ['user-registered', 'user-updated', 'client-registered']

const stacks = await synthesizeUnchecked('prod', { values: { senders: { operator } } })

const queuesOf = (from: Stacks) => ofType(from, 'AWS::SQS::Queue').map(({ resource }) => resource.Properties)
interface GetAtt {
  'Fn::GetAtt': [id: string, attribute: string]
}

const queueName = (reference: GetAtt | undefined) => {
  const found = ofType(stacks, 'AWS::SQS::Queue').find(({ id }) => id === reference?.['Fn::GetAtt'][0])
  return String(found?.resource.Properties['QueueName'])
}
const withEventKey = (value: unknown) => JSON.stringify(value ?? '').includes('EventKey')

describe('events that hold passwords or secrets', () => {
  it('one KMS key encrypts the queues of confidential and unmatched events alone', () => {
    const encrypted = queuesOf(stacks).filter(({ KmsMasterKeyId }) => withEventKey(KmsMasterKeyId))
    expect(encrypted.map(({ QueueName }) => QueueName).toSorted()).toEqual(
      [...confidential.flatMap((name) => [name, `${name}-dead-letters`]), 'unmatched-dead-letters']
        .map((name) => `account-service-prod-${name}`)
        .toSorted(),
    )
    for (const queue of queuesOf(stacks))
      if (!encrypted.includes(queue)) expect(queue).toMatchObject({ SqsManagedSseEnabled: true })
  })

  it('only the functions that handle events with secrets may decrypt with the key of these events', () => {
    const granted = ofType(stacks, 'AWS::IAM::Policy').flatMap(({ id, resource }) => {
      const { Statement } = resource.Properties['PolicyDocument'] as { Statement: Statement[] }
      return Statement.some(({ Resource }) => withEventKey(Resource)) ? [id] : []
    })
    expect(granted.map((id) => id.replace(/^intake(.*?)Role.*$/, '$1')).toSorted()).toEqual(
      confidential.map((name) => name.replaceAll('-', '')).toSorted(),
    )
  })

  it('the KMS key of events with secrets is for operators, functions and AWS services only', () => {
    const [key] = ofType(stacks, 'AWS::KMS::Key').filter(({ id }) => id.startsWith('EventKey'))
    const { Statement } = key?.resource.Properties['KeyPolicy'] as { Statement: Statement[] }
    const denied = Statement.filter(
      ({ Effect, Action }) => Effect === 'Deny' && Action?.includes('kms:Decrypt'),
    )
    expect(denied.map(({ Condition }) => Condition)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ StringNotEquals: { 'kms:ViaService': expect.anything() as object } }),
        expect.objectContaining({ ArnNotEquals: { 'aws:PrincipalArn': [operator] } }),
      ]),
    )
    const allowed = Statement.filter(
      ({ Effect, Action }) => Effect === 'Allow' && Action?.includes('kms:Decrypt'),
    )
    for (const { Principal } of allowed) expect(Principal).toEqual({ Service: 'events.amazonaws.com' })
    expect(allowed.length).toBeGreaterThan(0)
  })
})

// So the dead letter has a reason.
it('a function moves a failing event to the dead-letter queue before SQS does', () => {
  const ofEvents = queuesOf(stacks).filter(({ RedrivePolicy, FifoQueue }) => RedrivePolicy && !FifoQueue)
  expect(ofEvents.length).toBeGreaterThan(10)
  for (const { QueueName, RedrivePolicy } of ofEvents) {
    const { maxReceiveCount } = RedrivePolicy as { maxReceiveCount: number }
    expect(maxReceiveCount, String(QueueName)).toBeGreaterThan(maxReceives)
  }
})

it('an event that the bus cannot put into a queue goes to the queue’s dead-letter queue', () => {
  const rules = ofType(stacks, 'AWS::Events::Rule').filter(({ stack, resource }) => {
    const pattern = resource.Properties['EventPattern'] as Record<string, unknown> | undefined
    return stack === 'intake' && pattern?.['detail-type'] !== undefined
  })
  expect(rules).toHaveLength(events.length)
  for (const { resource } of rules) {
    const [target] = resource.Properties['Targets'] as { Arn: GetAtt; DeadLetterConfig?: { Arn: GetAtt } }[]
    const name = queueName(target?.Arn)
    expect(name).toMatch(/^account-service-prod-/)
    expect(queueName(target?.DeadLetterConfig?.Arn)).toBe(`${name}-dead-letters`)
  }
})

it('only the failed messages of a batch are delivered again', () => {
  const sources = ofType(stacks, 'AWS::Lambda::EventSourceMapping')
  expect(sources.length).toBeGreaterThan(events.length)
  for (const { resource } of sources)
    expect(resource.Properties).toMatchObject({ FunctionResponseTypes: ['ReportBatchItemFailures'] })
})

it('a disabled schedule stops within a minute, because runs are dropped after a minute and never retried', () => {
  const rules = ofType(stacks, 'AWS::Events::Rule').filter(
    ({ resource }) => resource.Properties['ScheduleExpression'],
  )
  const configs = ofType(stacks, 'AWS::Lambda::EventInvokeConfig')
  expect(configs).toHaveLength(rules.length)
  for (const { resource } of configs)
    expect(resource.Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 })
  for (const { resource } of rules)
    expect(resource.Properties['Targets']).toMatchObject([{ RetryPolicy: { MaximumEventAgeInSeconds: 60 } }])
})

describe('the queue of delayed mails', () => {
  const delayOf = (from: Stacks) =>
    queuesOf(from).find(({ QueueName }) => QueueName === 'account-service-prod-mail-delayed')?.[
      'DelaySeconds'
    ]

  it('the queue of delayed mails delays by mailDelaySeconds, up to half a login ticket’s life', async () => {
    expect(delayOf(stacks)).toBe(10)
    const values = { mailDelaySeconds: 30, loginTicketTtlSeconds: 5 }
    expect(delayOf(await synthesizeUnchecked('prod', { values }))).toBe(2)
  })
})

describe('outcomes', () => {
  it('only functions of events from outside may tell outcomes, without sending anything else', () => {
    const telling = ofType(stacks, 'AWS::IAM::Policy').flatMap(({ id, resource }) => {
      const { Statement } = resource.Properties['PolicyDocument'] as { Statement: Statement[] }
      return Statement.flatMap(({ Action, Condition }) => {
        const types = Condition?.['StringEquals']?.['events:detail-type']
        return Action === 'events:PutEvents' && JSON.stringify(types ?? []).includes('event.')
          ? [{ id, types }]
          : []
      })
    })
    const told = events.filter(({ senders }) => senders.some((sender) => sender !== 'account-service'))
    expect(telling.map(({ id }) => id.replace(/^intake(.*?)Role.*$/, '$1')).toSorted()).toEqual(
      told.map(({ detailType }) => detailType.replaceAll('.', '')).toSorted(),
    )
    for (const { types } of telling) expect(types).toEqual(['event.applied', 'event.refused'])
  })

  it('a listener’s bus gets the outcomes alone, with a queue for what it does not take', async () => {
    const shop = 'arn:aws:events:us-east-1:210987654321:event-bus/shop'
    const listening = await synthesizeUnchecked('prod', { values: { listeners: { shop } } })
    const rules = ofType(listening, 'AWS::Events::Rule').filter(({ resource }) =>
      JSON.stringify(resource.Properties['Targets']).includes(shop),
    )
    expect(rules.map(({ resource }) => resource.Properties)).toMatchObject([
      {
        Name: 'account-service-prod-listener-shop',
        EventPattern: { source: ['account-service'], 'detail-type': ['event.applied', 'event.refused'] },
        Targets: [{ Arn: shop, DeadLetterConfig: { Arn: expect.anything() as object } }],
      },
    ])
  })

  it.each([
    { Shop: 'arn:aws:events:us-east-1:210987654321:event-bus/shop' },
    { shop: 'arn:aws:sqs:us-east-1:210987654321:shop' },
  ])('the listeners %j are refused', async (listeners) => {
    await expect(synthesizeUnchecked('prod', { values: { listeners } })).rejects.toThrow('listeners')
  })
})
