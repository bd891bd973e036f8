import * as v from 'valibot'
import type { KeyModel, TableModel } from '../model.ts'
import { Policy, type TemplateReader, Text } from './reader.ts'

// Capacity has no meaning for a table that is paid by request, and DynamoDB Local refuses members it does not
// expect.
const Indexes = v.optional(
  v.array(v.object({ IndexName: v.unknown(), KeySchema: v.unknown(), Projection: v.unknown() })),
)

const Table = v.object({
  AttributeDefinitions: v.unknown(),
  KeySchema: v.unknown(),
  GlobalSecondaryIndexes: Indexes,
  TimeToLiveSpecification: v.optional(v.object({ AttributeName: v.optional(Text) })),
})

const Key = v.object({
  KeySpec: v.optional(Text, 'SYMMETRIC_DEFAULT'),
  KeyUsage: v.optional(Text, 'ENCRYPT_DECRYPT'),
  Description: v.optional(Text, ''),
  KeyPolicy: v.optional(Policy),
  Tags: v.optional(v.array(v.object({ Key: Text, Value: Text })), []),
})

/** The tables, as inputs of CreateTable. */
export function readTables(reader: TemplateReader): TableModel[] {
  const tables = ['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable'].flatMap((type) =>
    reader.read(type, Table),
  )
  return tables.map(({ ref, attribute, properties }) => {
    const { TimeToLiveSpecification: timeToLive, ...keysAndIndexes } = properties
    return {
      name: ref,
      arn: attribute('Arn'),
      createTableInput: { TableName: ref, BillingMode: 'PAY_PER_REQUEST', ...keysAndIndexes },
      ttlAttribute: timeToLive?.AttributeName,
    }
  })
}

/** The KMS keys that the templates create. */
export const readKeys = (reader: TemplateReader): KeyModel[] =>
  reader.read('AWS::KMS::Key', Key).map(({ ref, attribute, properties }) => ({
    keyId: ref,
    arn: attribute('Arn'),
    keySpec: properties.KeySpec,
    keyUsage: properties.KeyUsage,
    description: properties.Description,
    keyPolicy: properties.KeyPolicy,
    tags: Object.fromEntries(properties.Tags.map(({ Key: name, Value: value }) => [name, value])),
  }))
