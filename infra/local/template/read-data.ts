import type { KeyModel, TableModel } from '../model.ts'
import { asPolicyDocument } from './read-roles.ts'
import type { TemplateReader } from './template-reader.ts'
import { asList, asProperties, asTags, asText, type Properties } from './values.ts'

/** The tables, as CreateTable inputs. */
export function readTables(reader: TemplateReader): TableModel[] {
  return reader.ofType('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable').map((resource) => {
    const { properties, where } = resource
    const ttl = asProperties(properties.TimeToLiveSpecification, where('TimeToLiveSpecification'))
    return {
      logicalId: resource.id,
      name: resource.ref,
      arn: resource.attribute('Arn'),
      createTableInput: {
        TableName: resource.ref,
        AttributeDefinitions: properties.AttributeDefinitions,
        KeySchema: properties.KeySchema,
        BillingMode: 'PAY_PER_REQUEST',
        ...readIndexes('GlobalSecondaryIndexes', properties, where),
        ...readIndexes('LocalSecondaryIndexes', properties, where),
      },
      ttlAttribute: ttl.AttributeName === undefined ? undefined : asText(ttl.AttributeName, where('TTL')),
    }
  })
}

/** The KMS keys that the templates create. */
export function readKeys(reader: TemplateReader): KeyModel[] {
  return reader.ofType('AWS::KMS::Key').map((resource) => {
    const { properties, where } = resource
    const { KeySpec: spec, KeyUsage: usage, Description: description, KeyPolicy: policy } = properties
    return {
      logicalId: resource.id,
      keyId: resource.ref,
      arn: resource.attribute('Arn'),
      keySpec: asText(spec ?? 'SYMMETRIC_DEFAULT', where('KeySpec')),
      keyUsage: asText(usage ?? 'ENCRYPT_DECRYPT', where('KeyUsage')),
      description: asText(description ?? '', where('Description')),
      keyPolicy: policy === undefined ? undefined : asPolicyDocument(policy, where('KeyPolicy')),
      tags: asTags(properties.Tags, where('Tags')),
    }
  })
}

// Capacity has no meaning for a table that is paid by request; DynamoDB Local refuses what it does not expect.
function readIndexes(name: string, properties: Properties, where: (property: string) => string): Properties {
  const indexes = asList(properties[name], where(name)).map((index) => {
    const { IndexName, KeySchema, Projection } = asProperties(index, where(name))
    return { IndexName, KeySchema, Projection }
  })
  return indexes.length === 0 ? {} : { [name]: indexes }
}
