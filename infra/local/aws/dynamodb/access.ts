import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import type { AccessRequest } from '../iam/authorize.ts'
import { findTable, listTableUses, TableKeys, type TableUse } from './requests.ts'

/** Lists what IAM must allow for a DynamoDB operation: the actions, tables or indexes, and partition keys. */
export const listAccess = (model: StackModel, operation: string, input: unknown): AccessRequest[] =>
  listTableUses(operation, input).map((use) => ({
    action: `dynamodb:${use.action}`,
    resource: resourceOf(model, use),
    context: { 'dynamodb:LeadingKeys': listLeadingKeys(model, use) },
  }))

function resourceOf({ region, accountId }: StackModel, { table, index }: TableUse): string {
  if (table === undefined) return '*'
  const arn = table.startsWith('arn:') ? table : `arn:aws:dynamodb:${region}:${accountId}:table/${table}`
  return index === undefined ? arn : `${arn}/index/${index}`
}

/** Returns a list with a request's partition key value. If a request has none (a scan), the list is empty. */
function listLeadingKeys(
  model: StackModel,
  { table: reference = '', index, attributes }: TableUse,
): string[] {
  const table = findTable(model, reference)
  if (table === undefined) return []
  const keyed = v.parse(TableKeys, table.createTableInput)
  const indexes = [...keyed.GlobalSecondaryIndexes, ...keyed.LocalSecondaryIndexes]
  const schema = index === undefined ? keyed : indexes.find(({ IndexName }) => IndexName === index)
  const name = schema?.KeySchema.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName ?? ''
  return Object.values(attributes[name] ?? {}).map(String)
}
