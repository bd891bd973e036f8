import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { Money } from '../../shared/money.ts'

export type JsonSchema = Record<string, unknown>

/** Converts the schema that validates a part of a request to JSON Schema. */
export const inputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'input')

/** Converts the schema that types an answer to JSON Schema. */
export const outputSchema = (schema: v.GenericSchema): JsonSchema => convert(schema, 'output')

function convert(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
  const converted = toJsonSchema(schema, {
    typeMode,
    target: 'draft-2020-12',
    // Omits checks that are code, which JSON Schema cannot express.
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }) =>
      (valibotSchema as unknown) === Money
        ? { type: 'number', description: 'An exact decimal with all its digits: do not read it as a double.' }
        : undefined,
  }) as JsonSchema
  // Removes `$schema`, because the OpenAPI document names the JSON Schema dialect once for all.
  delete converted['$schema']
  return converted
}

/** Lists the properties of one member of an object, for example of the `query` of an endpoint's input. */
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
