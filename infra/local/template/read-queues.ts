import type { QueueModel } from '../model.ts'
import { asPolicyDocument } from './read-roles.ts'
import type { TemplateReader } from './template-reader.ts'
import { asFlag, asNumber, asProperties, asText, asTexts, type Properties } from './values.ts'

/** The queues, with their redrive and the policies that name them. */
export function readQueues(reader: TemplateReader): QueueModel[] {
  const policies = reader.ofType('AWS::SQS::QueuePolicy').map(({ properties, where }) => ({
    urls: asTexts(properties.Queues, where('Queues')),
    document: asPolicyDocument(properties.PolicyDocument, where('PolicyDocument')),
  }))
  return reader.ofType('AWS::SQS::Queue').map((resource) => {
    const { properties, where, ref: url } = resource
    return {
      logicalId: resource.id,
      name: resource.attribute('QueueName'),
      url,
      arn: resource.attribute('Arn'),
      fifo: asFlag(properties.FifoQueue),
      contentBasedDeduplication: asFlag(properties.ContentBasedDeduplication),
      visibilityTimeoutSeconds: asNumber(properties.VisibilityTimeout, where('VisibilityTimeout'), 30),
      delaySeconds: asNumber(properties.DelaySeconds, where('DelaySeconds'), 0),
      retentionSeconds: asNumber(properties.MessageRetentionPeriod, where('RetentionPeriod'), 345_600),
      redrive: readRedrive(properties, where('RedrivePolicy')),
      policies: policies.filter(({ urls }) => urls.includes(url)).map(({ document }) => document),
    }
  })
}

function readRedrive(properties: Properties, where: string): QueueModel['redrive'] {
  if (properties.RedrivePolicy === undefined) return undefined
  const { deadLetterTargetArn: arn, maxReceiveCount: count } = asProperties(properties.RedrivePolicy, where)
  return { deadLetterArn: asText(arn, where), maxReceiveCount: asNumber(count, where, 10) }
}
