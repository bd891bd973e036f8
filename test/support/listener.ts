import {
  DeleteRuleCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from '@aws-sdk/client-eventbridge'
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import type { clientOptions } from '../../shared/aws/client-options.ts'
import { type OutcomeDetail, outcomeTypes } from '../../shared/events/outcome.ts'

/** What AWS clients need to reach a stack, and the name of its bus. */
export interface ListenerOptions {
  config: ReturnType<typeof clientOptions>
  busName: string
}

/**
 * Makes a queue with a rule of its own that gets all outcomes of events, as a listener on AWS does. `receive`
 * takes out what has come, waiting up to a second for it.
 */
export async function listen({ config, busName: EventBusName }: ListenerOptions) {
  const sqs = new SQSClient(config)
  const bus = new EventBridgeClient(config)
  const name = `listener-${randomUUID()}`
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }))
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  )
  const Arn = Attributes?.['QueueArn'] ?? ''
  const EventPattern = JSON.stringify({ source: ['account-service'], 'detail-type': outcomeTypes })
  const { RuleArn } = await bus.send(new PutRuleCommand({ Name: name, EventBusName, EventPattern }))
  const statement = {
    Effect: 'Allow',
    Principal: { Service: 'events.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: Arn,
    Condition: { ArnEquals: { 'aws:SourceArn': RuleArn } },
  }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }))
  await bus.send(new PutTargetsCommand({ Rule: name, EventBusName, Targets: [{ Id: 'queue', Arn }] }))
  return {
    queueUrl: QueueUrl ?? '',
    receive: () => receiveOutcomes(sqs, QueueUrl ?? ''),
    async close(): Promise<void> {
      await bus.send(new RemoveTargetsCommand({ Rule: name, EventBusName, Ids: ['queue'] }))
      await bus.send(new DeleteRuleCommand({ Name: name, EventBusName }))
      await sqs.send(new DeleteQueueCommand({ QueueUrl }))
    },
  }
}

/** Takes outcomes out of a listener's queue, at most ten. Waits up to a second for the first one. */
export async function receiveOutcomes(sqs: SQSClient, QueueUrl: string): Promise<OutcomeDetail[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
  )
  if (Messages.length === 0) return []
  const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }))
  await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
  return Messages.map(({ Body = '' }) => (JSON.parse(Body) as { detail: OutcomeDetail }).detail)
}
