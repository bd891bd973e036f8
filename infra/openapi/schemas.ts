import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { Money } from '../../shared/money.ts'

export type JsonSchema = Record<string, unknown>

/** The JSON Schema of a request part, from the schema that validates it. */
export const inputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'input')

/** The JSON Schema of an answer, from the schema that types it. */
export const outputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'output')

function convert(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
  const converted = toJsonSchema(schema, {
    typeMode,
    target: 'draft-2020-12',
    // JSON Schema cannot express checks that are code, so they are left out.
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }) =>
      (valibotSchema as unknown) === Money
        ? { type: 'number', description: 'An exact decimal with all its digits: do not read it as a double.' }
        : undefined,
  }) as JsonSchema
  // The OpenAPI document as a whole names the JSON Schema dialect.
  delete converted['$schema']
  return converted
}

/** The properties of one part of an endpoint's input, for example of its `query`. */
export function members(
  schema: JsonSchema,
  name: string,
): { name: string; required: boolean; schema: JsonSchema }[] {
  const part = (schema['properties'] as Record<string, JsonSchema> | undefined)?.[name]
  const properties = (part?.['properties'] ?? {}) as Record<string, JsonSchema>
  const required = (part?.['required'] ?? []) as string[]
  return Object.entries(properties).map(([member, memberSchema]) => ({
    name: member,
    required: required.includes(member),
    schema: memberSchema,
  }))
}
