import { InvalidArgumentError } from 'commander'
import * as v from 'valibot'
import { UserId } from '../../shared/events/fields.ts'

/** Reads an option that is a user id. */
export function readUserId(text: string): number {
  const result = v.safeParse(UserId, text)
  if (!result.success) throw new InvalidArgumentError('not a user id.')
  return result.output
}
