import * as v from 'valibot'
import { invalidParameter } from '../errors.ts'

/**
 * Schema of an optional OAuth parameter; an empty one counts as omitted (OAuth 2.1 §3.1 and §3.2). Refuses
 * half a surrogate pair, which JSON can contain but the table cannot store.
 */
export const Parameter = v.optional(
  v.pipe(
    v.string(),
    v.check((value) => value.isWellFormed(), 'must be Unicode text'),
    v.transform((value) => (value === '' ? undefined : value)),
  ),
)

/** Returns the value of a required OAuth parameter; throws `invalid_parameter` when it was omitted. */
export function requireParameter(name: string, value: string | undefined): string {
  if (value === undefined) throw invalidParameter(name, 'is required')
  return value
}
