import * as v from 'valibot'

/** The name under which a user is shown to others; 1 to 100 characters. */
export const Nickname = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(100, 'must have at most 100 characters'),
)
