import {
  md5,
  md5OfAttributes,
  systemAttributes,
  type Message,
  type MessageAttribute,
} from '../sqs/message.ts'

/** The event in which Lambda hands messages to a function (the types package calls it SQSEvent). */
export function buildSqsEvent(
  messages: Message[],
  queue: { arn: string },
  region: string,
): Record<string, unknown> {
  return {
    Records: messages.map((message) => ({
      messageId: message.id,
      receiptHandle: message.receipt,
      body: message.body,
      attributes: systemAttributes(message),
      messageAttributes: Object.fromEntries(
        Object.entries(message.attributes).map(([name, attribute]) => [name, describeAttribute(attribute)]),
      ),
      md5OfBody: md5(message.body),
      ...(Object.keys(message.attributes).length > 0
        ? { md5OfMessageAttributes: md5OfAttributes(message.attributes) }
        : {}),
      eventSource: 'aws:sqs',
      eventSourceARN: queue.arn,
      awsRegion: region,
    })),
  }
}

function describeAttribute({
  StringValue,
  BinaryValue,
  DataType,
}: MessageAttribute): Record<string, unknown> {
  return {
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: BinaryValue }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  }
}
