import * as v from 'valibot'
import { expect, test } from 'vitest'
import { EmailAddress, maskEmail, Nickname, UserEmail } from '../../../shared/users/identity.ts'
import { normalizeEmail, toMailAddress } from '../../../shared/users/normalize-email.ts'

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
  ['J\u030c@example.com', '\u01f0@example.com'],
  ['a\ud800@example.com', 'a\ufffd@example.com'],
  ['u@bücher.example', 'u@xn--bcher-kva.example'],
  ['u@BÜCHER.example', 'U@XN--BCHER-KVA.example'],
  ['u@faß.example', 'u@xn--fa-hia.example'],
  ['u@a\u3002example', 'u@a.example'],
  ['straße@example.com', 'STRASSE@example.com'],
])('%j and %j are the same email address', (one, other) => {
  expect(normalizeEmail(one)).toBe(normalizeEmail(other))
})

test.each([
  ['u@faß.example', 'u@fass.example'],
  ['u@a%41.example', 'u@aa.example'],
  ['u@a.example/b', 'u@a.example'],
  ['u@a.example\uff0fb', 'u@a.example'],
  ['u@a.example\\b', 'u@a.example'],
  ['u@a.example?b', 'u@a.example'],
  ['u@a.example#b', 'u@a.example'],
  ['u@a\t.example', 'u@a.example'],
])('%j and %j are two email addresses', (one, other) => {
  expect(normalizeEmail(one)).not.toBe(normalizeEmail(other))
})

test.each([
  ['u@bücher.example', 'u@xn--bcher-kva.example'],
  ['Ann.B@example.com', 'Ann.B@example.com'],
])('a mail to %j is sent to %j, the form that SES takes', (email, sent) => {
  expect(toMailAddress(email)).toBe(sent)
})

const unreachable = 'must have a domain that mail can reach'

test.each([
  ['@localhost', unreachable],
  ['@123', unreachable],
  ['@example.123', unreachable],
  ['@192.0.2.1', unreachable],
  ['@-a.example', unreachable],
  ['@a-.example', unreachable],
  ['@-ü.example', unreachable],
  ['@ü-.example', unreachable],
  ['@a_b.example', unreachable],
  ['@a%41.example', unreachable],
  ['@a.example/b', unreachable],
  ['@a.example?b', unreachable],
  ['@a.example#b', unreachable],
  [`@${'a'.repeat(64)}.example`, unreachable],
])('a user’s email address at %j is refused, because no mail reaches it', (domain, reason) => {
  expect(reasons(UserEmail, `u${domain}`)).toContain(reason)
})

test('a user’s email address has at most 64 octets before the @', () => {
  expect(v.parse(UserEmail, `${'a'.repeat(64)}@example.com`)).toHaveLength(76)
  for (const local of ['a'.repeat(65), 'ü'.repeat(33)])
    expect(reasons(UserEmail, `${local}@example.com`)).toEqual(['must have at most 64 octets before the @'])
})

test.each([
  'u@bücher.example',
  'u@xn--bcher-kva.example',
  'u@a-b.c1.example',
  'u@1.example',
  'u@例え.テスト',
])('a user’s email address %j is accepted and shown as registered', (email) => {
  expect(v.parse(UserEmail, email)).toBe(email)
})

const control = 'must have no control characters'
const invisible = 'must have no zero-width or bidi characters'
const notNfc = 'must be in Unicode normalization form C'

const reasons = (schema: v.GenericSchema, text: string) =>
  v.safeParse(schema, text).issues?.map(({ message }) => message)

test.each([
  ['a control character', 'a\u0007b', control],
  ['a C1 control character', 'a\u0085b', control],
  ['an unpaired surrogate', 'a\ud800b', control],
  ['a zero-width space', 'a\u200bb', invisible],
  ['a joiner at the end', 'a\u200d', invisible],
  ['a joiner at the beginning', '\u200ca', invisible],
  ['two joiners', 'a\u200d\u200db', invisible],
  ['a byte order mark at the end', 'a\ufeff', invisible],
  ['a variation selector after a letter', 'a\ufe0f', invisible],
  ['a tag', 'a\u{e0067}', invisible],
  ['a soft hyphen', 'a\u00adb', invisible],
  ['a byte order mark', 'a\ufeffb', invisible],
  ['a Hangul filler', 'a\u3164b', invisible],
  ['a right-to-left override', 'a\u202eb', invisible],
  ['a bidi isolate', 'a\u2066b', invisible],
  ['a line separator', 'a\u2028b', control],
  ['a line feed at the end', 'a\n', control],
  ['a letter that is not composed', 'e\u0301b', notNfc],
])('a user’s nickname or email address with %s is refused for that reason', (_what, text, reason) => {
  expect(reasons(Nickname, text)).toEqual([reason])
  expect(reasons(UserEmail, `${text}@example.com`)).toContain(reason)
})

const fullStop = 'must have no ideographic full stop'

test.each([
  ['U+3002, which mail systems read as a dot,', 'alice@example\u3002com', fullStop],
  ['U+FF61, which mail systems read as a dot,', 'alice@example\uff61com', fullStop],
  ['a zero-width joiner between two letters', 'al\u200dice@example.com', invisible],
  ['an emoji and its invisible style', '\u2764\ufe0f@example.com', invisible],
  ['a byte order mark at its end', 'alice@example.com\ufeff', invisible],
  ['a line separator at its beginning', '\u2028alice@example.com', control],
  ['a line feed at its end', 'alice@example.com\n', control],
])('a user’s email address with %s is refused for that reason', (_what, email, reason) => {
  expect(reasons(UserEmail, email)).toContain(reason)
})

test.each([
  'Alice',
  'Ann Lee',
  'J\u00fcrgen \u5c71\u7530',
  '\u05e9\u05dc\u05d5\u05dd',
  '\u{1f600}',
  'a\u00a0b\u2009c\u3000d',
  'Ann \u2764\ufe0f',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\u{1f3c3}\u{1f3fd}\u200d\u2640\ufe0f',
  '\u{1f3f3}\ufe0f\u200d\u{1f308}',
  '\u{1f1e9}\u{1f1ea}',
  '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  '1\ufe0f\u20e3',
  '\u0646\u0627\u0645\u0647\u200c\u0647\u0627',
  '\u0d9a\u0dca\u200d\u0dbb',
])('the nickname %s is accepted', (nickname) => {
  expect(v.parse(Nickname, ` ${nickname} `)).toBe(nickname)
})

test('a nickname has at most 100 Unicode code points, however many UTF-16 code units they take', () => {
  expect(v.parse(Nickname, '🦊'.repeat(100))).toBe('🦊'.repeat(100))
  for (const nickname of ['🦊'.repeat(101), 'a'.repeat(101), '', ' '])
    expect(v.is(Nickname, nickname), nickname).toBe(false)
})

test.each([
  'a\uff20b@example.com',
  'a\u00b4b@example.com',
  'a..b@example.com',
  '.a@example.com',
  'a.@example.com',
  'a@example..com',
  'a@.example.com',
  '<a@example.com>',
  'a\uff1cb@example.com',
  '"a"@example.com',
])('the email address %j is refused, because its normalized form is no valid email address', (email) => {
  expect(reasons(UserEmail, email)).toEqual(['must be an email address when normalized'])
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
