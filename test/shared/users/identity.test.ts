import * as v from 'valibot'
import { expect, test } from 'vitest'
import { EmailAddress, maskEmail, normalizeEmail } from '../../../shared/users/identity.ts'

test.each([
  ['alice@example.com', 'alice@example.com'],
  ['  alice@example.com\t', 'alice@example.com'],
  ['Alice+tag@Example.com', 'Alice+tag@Example.com'],
  ['jürgen@bücher.example', 'jürgen@bücher.example'],
])('%j is accepted as an email address and stored as %j', (sent, kept) => {
  expect(v.parse(EmailAddress, sent)).toBe(kept)
})

test.each([
  '',
  ' ',
  'alice',
  '@example.com',
  'alice@',
  'a b@example.com',
  'a@b@c',
  'a\n@b',
  `${'a'.repeat(250)}@b.example`,
  7,
  null,
])('%j is refused as an email address', (sent) => {
  expect(v.is(EmailAddress, sent)).toBe(false)
})

test.each([
  ['Alice@Example.COM', 'alice@example.com'],
  [' alice@example.com ', 'alice@example.com'],
  ['e\u0301va@example.com', '\u00c9VA@example.com'],
])('%j and %j are the same email address', (one, other) => {
  expect(normalizeEmail(one)).toBe(normalizeEmail(other))
})

test.each([
  ['alice@example.com', 'a***e@example.com'],
  ['abc@example.com', 'a***c@example.com'],
  ['ab@example.com', 'a***@example.com'],
  ['a@example.com', 'a***@example.com'],
  ['Alice.Long@Example.com', 'A***g@Example.com'],
  ['😀mid😎@example.com', '😀***😎@example.com'],
])('the email address %s is masked as %s', (email, masked) => {
  expect(maskEmail(email)).toBe(masked)
})
