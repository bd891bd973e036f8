import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { Money } from '../../shared/money.ts'

export type JsonSchema = Record<string, unknown>
export type JsonSchemas = Record<string, JsonSchema>

/** Converts the schema of a request or event to JSON Schema. */
export const inputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'input')

/** Converts an answer's schema to JSON Schema. */
export const outputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'output')

function convert(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
  const converted = toJsonSchema(schema, {
    typeMode,
    target: 'draft-2020-12',
    // Omits checks that are made in code, because JSON Schema cannot express them.
    errorMode: 'ignore',
    // Omit the limits of whole numbers (2^53). Code generators would create special types for these limits.
    ignoreActions: ['safe_integer', 'integer'],
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      (valibotSchema as unknown) === Money
        ? money
        : inCommonTerms(valibotSchema.type, jsonSchema as JsonSchema),
  }) as JsonSchema
  // Removes `$schema`, because the OpenAPI document names the JSON Schema dialect once for all schemas.
  delete converted['$schema']
  // Write \d as [0-9], because in some languages \d also matches digits of other scripts.
  return JSON.parse(JSON.stringify(converted).replaceAll(String.raw`\\d`, '[0-9]')) as JsonSchema
}

/** Schema of an amount, with the extensions that make oapi-codegen (Go) use a decimal type. */
const money: JsonSchema = {
  type: 'number',
  format: 'decimal',
  description: 'An exact decimal with all its digits: do not read it as a double.',
  'x-go-type': 'decimal.Decimal',
  'x-go-type-import': { path: 'github.com/shopspring/decimal' },
}

/** Names of properties that hold small numbers and get the format int32. Other whole numbers get int64. */
const small = new Set(
  'current size cap level devices expires_in confirmations required_confirmations'.split(' '),
)

/** Rewrites a schema so that it uses only keywords that all code generators know. */
function inCommonTerms(type: string, schema: JsonSchema): JsonSchema | undefined {
  if (type === 'number') return { type: 'integer', format: 'int64' }
  if (type === 'literal')
    return schema['const'] === true
      ? { type: 'boolean', description: 'Always true.' }
      : { type: typeof schema['const'], ...schema }
  // Only the direction of a bill is an enum of 1 and 2.
  if (type === 'picklist' && String(schema['enum']) === '1,2')
    return { type: 'integer', format: 'int32', minimum: 1, maximum: 2, description: '1: credit, 2: debit.' }
  if (type === 'nullable') {
    const [inner = {}] = schema['anyOf'] as JsonSchema[]
    return { ...inner, type: [inner['type'], 'null'] }
  }
  for (const [name, member] of Object.entries((schema['properties'] ?? {}) as JsonSchemas))
    if (small.has(name) && member['type'] === 'integer') member['format'] = 'int32'
  return undefined
}

/** The schema of an object with these required and optional members. */
export const objectOf = (required: JsonSchemas, optional: JsonSchemas = {}): JsonSchema => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
})

/** Lists the properties of one member of an object, such as the member `query` of an endpoint's input. */
export function members(
  schema: JsonSchema,
  name: string,
): { name: string; required: boolean; schema: JsonSchema }[] {
  const part = (schema['properties'] as JsonSchemas | undefined)?.[name]
  const properties = (part?.['properties'] ?? {}) as JsonSchemas
  const required = (part?.['required'] ?? []) as string[]
  return Object.entries(properties).map(([member, memberSchema]) => ({
    name: member,
    required: required.includes(member),
    schema: memberSchema,
  }))
}
