import { expect, it } from 'vitest'
import { emailKey } from '../../../../shared/users/identity.ts'
import { normalizeEmail } from '../../../../shared/users/normalize-email.ts'

// U+337F becomes four characters when it is normalized. A long address is replaced by its hash in the key.
it.each([
  ['alice@example.com', 'EMAIL#alice@example.com'],
  [`${'\u337f'.repeat(240)}@example.com`, expect.stringMatching(/^EMAIL#[\w-]{43}$/) as string],
])('an address fits into a partition key, even if normalizing makes it very long: %s', (address, pk) => {
  expect(emailKey(normalizeEmail(address)).pk).toEqual(pk)
})
