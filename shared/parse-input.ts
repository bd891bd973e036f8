import * as v from 'valibot'
import { Failure, type FieldError } from './errors.ts'

/**
 * Parses a request by its schema. Throws `invalid_parameter` with one entry per field. Passes on only our own
 * messages, because valibot's default messages quote the value.
 */
export function parseInput<Schema extends v.GenericSchema>(
  schema: Schema,
  raw: { path: unknown; query: unknown; body: unknown },
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, raw)
  if (result.success) return result.output
  throw new Failure('invalid_parameter', { fields: fieldErrors(result.issues, 'request') })
}

/**
 * The fields that a schema refused, each once, with a reason that does not quote the value. The location of a
 * request's field (body, query, path) is left out: `email`, not `body.email`.
 */
export function fieldErrors(issues: readonly v.BaseIssue<unknown>[], of: 'request' | 'event'): FieldError[] {
  const byField = new Map<string, FieldError>()
  for (const issue of issues) {
    const field = fieldName(issue, of)
    if (!byField.has(field)) byField.set(field, { field, reason: reason(issue) })
  }
  return [...byField.values()]
}

function fieldName(issue: v.BaseIssue<unknown>, of: 'request' | 'event'): string {
  const keys = (issue.path ?? []).map(({ key }) => String(key))
  const named = of === 'request' && keys.length > 1 ? keys.slice(1) : keys
  return named.join('.') || (of === 'request' ? 'body' : 'detail')
}

function reason({ type, received, message }: v.BaseIssue<unknown>): string {
  if (received === 'undefined') return 'is required'
  if (!message.startsWith('Invalid ')) return message
  if (type === 'picklist') return 'is not one of the allowed values'
  const jsonType = type === 'strict_object' ? 'object' : type
  return jsonTypes.includes(jsonType) ? `must be of type ${jsonType}` : 'is not valid'
}

const jsonTypes = ['string', 'number', 'boolean', 'array', 'object']
