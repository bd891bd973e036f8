import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  EmailAddress,
  maskEmail,
  Nickname,
  normalizeEmail,
  UserEmail,
} from '../../../shared/users/identity.ts'

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
  ['\uff41lice@example.com', 'alice@example.com'],
  ['alice@\u24d4xample.com', 'alice@example.com'],
  ['\ufb01fi@example.com', 'FIFI@example.com'],
  ['\u212aim@example.com', 'kim@example.com'],
  ['alice\uff20example.com', 'alice@example.com'],
  ['a\ud800@example.com', 'a\ufffd@example.com'],
])('%j and %j are the same email address', (one, other) => {
  expect(normalizeEmail(one)).toBe(normalizeEmail(other))
})

const control = 'must have no control characters'
const invisible = 'must have no zero-width or bidi characters'
const separator = 'must have no separators other than the space'
const notNfc = 'must be in Unicode normalization form C'

const reasons = (schema: v.GenericSchema, text: string) =>
  v.safeParse(schema, text).issues?.map(({ message }) => message)

test.each([
  ['a control character', 'a\u0007b', control],
  ['a C1 control character', 'a\u0085b', control],
  ['an unpaired surrogate', 'a\ud800b', control],
  ['a zero-width space', 'a\u200bb', invisible],
  ['a zero-width joiner', 'a\u200db', invisible],
  ['a soft hyphen', 'a\u00adb', invisible],
  ['a byte order mark', 'a\ufeffb', invisible],
  ['a Hangul filler', 'a\u3164b', invisible],
  ['a right-to-left override', 'a\u202eb', invisible],
  ['a bidi isolate', 'a\u2066b', invisible],
  ['a no-break space', 'a\u00a0b', separator],
  ['a line separator', 'a\u2028b', separator],
  ['an ideographic space', 'a\u3000b', separator],
  ['a letter that is not composed', 'e\u0301b', notNfc],
])('a user’s nickname or email address with %s is refused, and the reason says so', (_what, text, reason) => {
  expect(reasons(Nickname, text)).toEqual([reason])
  expect(reasons(UserEmail, `${text}@example.com`)).toContain(reason)
})

test.each(['\u3002', '\uff61'])(
  'an address with %j for a dot, which mail systems take for one, is refused',
  (dot) => {
    expect(reasons(UserEmail, `alice@example${dot}com`)).toEqual(['must have no ideographic full stop'])
  },
)

test.each(['Alice', 'Ann Lee', 'J\u00fcrgen \u5c71\u7530', '\u05e9\u05dc\u05d5\u05dd', '\u{1f600}'])(
  'the nickname %s is accepted',
  (nickname) => {
    expect(v.parse(Nickname, ` ${nickname}\n`)).toBe(nickname)
  },
)

test.each(['a\uff20b@example.com', 'a\u00b4b@example.com'])(
  'the address %j, which is no address in the form that is compared, is refused',
  (email) => {
    expect(reasons(UserEmail, email)).toEqual(['must be an email address when normalized'])
  },
)

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
