import { expect, it } from 'vitest'
import { emailKey, normalizeEmail } from '../../../../shared/users/identity.ts'

// The character U+337F normalizes to four others. An address that is too long for a key is hashed.
it.each([
  ['alice@example.com', 'EMAIL#alice@example.com'],
  [`${'\u337f'.repeat(240)}@example.com`, expect.stringMatching(/^EMAIL#[\w-]{43}$/) as string],
])('an address fits into a partition key, even if normalizing makes it very long: %s', (address, pk) => {
  expect(emailKey(normalizeEmail(address)).pk).toEqual(pk)
})
