import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { putEvent, waitForDeadLetter } from '../../../support/bus.ts'
import { sectionOf } from '../../runbook/read-runbook.ts'
import { ofType, synthesizeUnchecked } from '../synthesize.ts'

interface Alarm {
  AlarmName: string
  AlarmDescription: string
  MetricName: string
  Dimensions: [{ Name: string; Value: string }]
  Threshold: number
  ComparisonOperator: string
}

it('a refused event raises the dead-letter alarm, whose runbook section tells how to read it', async () => {
  const watched = await synthesizeUnchecked('local', { values: { alarms: true } })
  const alarms = ofType(watched, 'AWS::CloudWatch::Alarm').map(
    ({ resource: { Properties: properties } }) => properties as unknown as Alarm,
  )
  const alarm = alarms.find(({ AlarmName: name }) => name === 'wallet-adjusted-dead-letters')
  const { MetricName: metric, Dimensions: dimensions, ...raised } = alarm ?? expect.unreachable()
  expect(raised.ComparisonOperator).toBe('GreaterThanOrEqualToThreshold')

  const sqs = new SQSClient(clientOptions())
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: dimensions[0].Value }))
  // In the API of SQS, this metric is the queue attribute ApproximateNumberOfMessages.
  expect(metric).toBe('ApproximateNumberOfMessagesVisible')
  const measure = async () => {
    const AttributeNames = ['ApproximateNumberOfMessages' as const]
    const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))
    return Number(Attributes?.ApproximateNumberOfMessages)
  }
  const nonsense = randomUUID()
  await putEvent('wallet.adjusted', { nonsense })
  await waitForDeadLetter('wallet.adjusted', nonsense)
  await vi.waitFor(async () => expect(await measure()).toBeGreaterThanOrEqual(raised.Threshold))

  const anchor = /infra\/RUNBOOK\.md#(.+)$/.exec(raised.AlarmDescription)?.[1]
  expect(sectionOf(anchor ?? '')).toContain('`npm run ops -- dlq show NAME`')
})
