import { expect, test } from 'vitest'
import { maskEmail } from '../../shared/mask-email.ts'

test.each([
  ['alice@example.com', 'a***e@example.com'],
  ['abc@example.com', 'a***c@example.com'],
  ['ab@example.com', 'a***@example.com'],
  ['a@example.com', 'a***@example.com'],
  ['Alice.Long@Example.com', 'A***g@Example.com'],
  ['😀mid😎@example.com', '😀***😎@example.com'],
])('%s is shown as %s', (email, masked) => {
  expect(maskEmail(email)).toBe(masked)
})
