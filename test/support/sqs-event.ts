import type { MessageAttributeValue } from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { randomUUID } from 'node:crypto'

/** A queue message that a function receives. */
export interface TestMessage {
  body: string
  id?: string
  /** How often the message has been received, this time included. */
  receives?: number
  /** When the message was sent to the queue, epoch milliseconds. */
  sentAt?: number
  /** When the message was received for the first time, epoch milliseconds. Default: when it was sent. */
  firstReceivedAt?: number | undefined
  attributes?: Record<string, MessageAttributeValue> | undefined
  /** The attribute `refusals` of a dead letter that is redriven. */
  refusals?: string | undefined
}

/** Builds the event with which Lambda delivers a batch of messages. */
export const toSqsEvent = (batch: readonly TestMessage[]): SQSEvent => ({
  Records: batch.map(
    ({ body, id = randomUUID(), receives = 1, sentAt = Date.now(), firstReceivedAt = sentAt, ...rest }) => ({
      messageId: id,
      receiptHandle: id,
      body,
      attributes: {
        ApproximateReceiveCount: String(receives),
        SentTimestamp: String(sentAt),
        SenderId: 'test',
        ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
      },
      messageAttributes: Object.fromEntries(
        Object.entries(rest.attributes ?? refusalsAttribute(rest.refusals)).map(
          ([name, { DataType = '', StringValue = '' }]) => [
            name,
            { dataType: DataType, stringValue: StringValue },
          ],
        ),
      ),
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:test',
      awsRegion: 'us-east-1',
    }),
  ),
})

const refusalsAttribute = (refusals: string | undefined): Record<string, MessageAttributeValue> =>
  refusals === undefined ? {} : { refusals: { DataType: 'Number', StringValue: refusals } }
