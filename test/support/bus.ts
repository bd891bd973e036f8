import { GetQueueUrlCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { vi } from 'vitest'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { putEvents } from './put-event.ts'

/** Puts an event on the bus as the business server would. */
export const putEvent = (detailType: string, detail: object): Promise<void> => putEvents(detailType, [detail])

/** A dead letter: the detail of a rejected event, and the reason. */
export interface DeadLetter {
  detail: unknown
  reason: string | undefined
  /** The dead letter's attribute `refusals`: how often the event has been refused. */
  refusals: string | undefined
}

/**
 * Waits for a dead letter of `detailType` whose body contains `text`. Leaves all messages in the queue,
 * because other tests read the queue at the same time.
 */
export async function waitForDeadLetter(detailType: string, text: string): Promise<DeadLetter> {
  const sqs = new SQSClient(clientOptions())
  const QueueName = `${detailType.replaceAll('.', '-')}-dead-letters`
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }))
  return vi.waitFor(
    async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: 10,
          // With a visibility timeout of 0, other tests can still receive the messages.
          VisibilityTimeout: 0,
          MessageAttributeNames: ['All'],
        }),
      )
      const found = Messages.find(({ Body }) => Body?.includes(text))
      if (found === undefined) throw new Error(`no dead letter of ${detailType} yet`)
      return toDeadLetter(found)
    },
    { timeout: 25_000, interval: 50 },
  )
}

const toDeadLetter = ({ Body = '', MessageAttributes }: Message): DeadLetter => ({
  detail: (JSON.parse(Body) as { detail: unknown }).detail,
  reason: MessageAttributes?.['reason']?.StringValue,
  refusals: MessageAttributes?.['refusals']?.StringValue,
})
