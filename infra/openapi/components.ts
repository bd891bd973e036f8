import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema, JsonSchemas } from './schemas.ts'

/** Names for the schemas of properties, keyed by `SCHEMA.PROPERTY`. For an array, its items get the name. */
const memberNames: Record<string, string> = {
  'AssetSummary.assets': 'AssetValue',
  'AuthorizationRequest.error_urls': 'ErrorUrls',
  'Bill.business_id': 'BillType',
  'BillExport.records': 'Bill',
  'BillPage.records': 'Bill',
  'CommunityMemberPage.records': 'CommunityMemberVO',
  'DashboardOverviewVO.balances': 'AccountBalanceVO',
  'DashboardOverviewVO.total_earnings': 'EarningCurrencyVO',
  'DashboardOverviewVO.yesterday_earnings': 'EarningCurrencyVO',
  'DepositPage.records': 'DepositRecord',
  'DepositRecord.status': 'DepositStatus',
  'JsonWebKeySet.keys': 'JsonWebKey',
  'LoginResultVO.two_factor_methods': 'TwoFactorMethod',
  'WithdrawalPage.records': 'WithdrawalRecord',
  'WithdrawalRecord.status': 'WithdrawalStatus',
  'MemberExport.records': 'CommunityMemberVO',
}

/** The named schemas, parameters and responses, to which the operations of the document refer. */
export type Components = Record<'schemas' | 'parameters' | 'responses', JsonSchemas>

/**
 * Registers a part under a name. Returns a reference, or the part itself if it is not registered. Throws an
 * Error if the name of a schema is taken.
 */
export function namePart(components: Components, kind: keyof Components, name: string, part: JsonSchema) {
  const named = (components[kind][name] ??= part)
  if (isDeepStrictEqual(named, part)) return { $ref: `#/components/${kind}/${name}` }
  if (kind === 'schemas') throw new Error(`two schemas are named ${name}`)
  return part
}

/**
 * Registers a schema under a name, and returns a reference. First registers the schemas of the properties in
 * memberNames. For an array, registers the schema of its items, and returns an array schema.
 */
export function nameSchema(components: Components, name: string | undefined, schema: JsonSchema): JsonSchema {
  if (name === undefined) return schema
  const { items, properties = {} } = schema as { items?: JsonSchema; properties?: JsonSchemas }
  if (items !== undefined) return { ...schema, items: nameSchema(components, name, items) }
  for (const [member, part] of Object.entries(properties))
    properties[member] = nameSchema(components, memberNames[`${name}.${member}`], part)
  return namePart(components, 'schemas', name, schema)
}

/** Converts words to PascalCase, the form of a schema's name: `oauth too_large` → `OauthTooLarge`. */
export const pascalCase = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
