import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { Money } from '../../shared/money.ts'

export type JsonSchema = Record<string, unknown>

/** The JSON Schema of what a client sends, from the schema that validates it. */
export const inputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'input')

/** The JSON Schema of what a client receives, from the schema that types it. */
export const outputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'output')

function convert(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
  const converted = toJsonSchema(schema, {
    typeMode,
    target: 'draft-2020-12',
    // Checks that only code can express are described in words by their message, not in the schema.
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }) =>
      (valibotSchema as unknown) === Money
        ? { type: 'number', description: 'An exact decimal with all its digits: do not read it as a double.' }
        : undefined,
  }) as JsonSchema
  // The document as a whole names the dialect.
  delete converted['$schema']
  return converted
}

/** The members of an object schema's member, such as `query` of an endpoint's input, each with whether it is required. */
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
