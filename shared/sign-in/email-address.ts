import * as v from 'valibot'

/** An email address as its owner writes it, without outer space; 254 characters at most (RFC 5321 §4.5.3.1.3). */
export const EmailAddress = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(254, 'must have at most 254 characters'),
  v.regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address'),
)

/** What two spellings of one address have in common: neither case nor outer space tells them apart. */
export const normalizeEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase()
