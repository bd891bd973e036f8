import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema, JsonSchemas } from './schemas.ts'

/** The names of members that are objects or enumerations of their own, or lists of such. */
const memberNames: Record<string, string> = {
  'AssetSummary.assets': 'AssetValue',
  'Bill.business_id': 'BillType',
  'BillPage.records': 'Bill',
  'CommunityMemberPage.records': 'CommunityMemberVO',
  'DashboardOverviewVO.balances': 'AccountBalanceVO',
  'DashboardOverviewVO.total_earnings': 'EarningCurrencyVO',
  'DashboardOverviewVO.yesterday_earnings': 'EarningCurrencyVO',
  'DepositPage.records': 'DepositRecord',
  'DepositRecord.status': 'DepositStatus',
  'JsonWebKeySet.keys': 'JsonWebKey',
  'LoginResultVO.two_factor_methods': 'TwoFactorMethod',
  'MemberExport.records': 'CommunityMemberVO',
}

/** The parts of the document that have a name, to which its operations refer. */
export type Components = Record<'schemas' | 'parameters' | 'responses', JsonSchemas>

/**
 * Names a part and refers to it. A parameter or response whose name another one has is returned as it is; for
 * a schema whose name another one has, throws.
 */
export function namePart(components: Components, kind: keyof Components, name: string, part: JsonSchema) {
  const named = (components[kind][name] ??= part)
  if (isDeepStrictEqual(named, part)) return { $ref: `#/components/${kind}/${name}` }
  if (kind === 'schemas') throw new Error(`two schemas are named ${name}`)
  return part
}

/** Names a schema, and its members that have a name, and refers to it. Of a list, names the items. */
export function nameSchema(components: Components, name: string | undefined, schema: JsonSchema): JsonSchema {
  if (name === undefined) return schema
  const { items, properties = {} } = schema as { items?: JsonSchema; properties?: JsonSchemas }
  if (items !== undefined) return { ...schema, items: nameSchema(components, name, items) }
  for (const [member, part] of Object.entries(properties))
    properties[member] = nameSchema(components, memberNames[`${name}.${member}`], part)
  return namePart(components, 'schemas', name, schema)
}

/** Writes words in the form of a type's name. */
export const pascalCase = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
