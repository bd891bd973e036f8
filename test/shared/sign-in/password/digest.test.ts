import { expect, test } from 'vitest'
import { formatPhc, parsePhc } from '../../../../shared/sign-in/password/digest.ts'

const hash = {
  memory: 19_456,
  passes: 2,
  parallelism: 1,
  salt: Buffer.from('0123456789abcdef'),
  hash: Buffer.from('f'.repeat(32)),
}

test('a password hash is written in the PHC string format', () => {
  expect(formatPhc(hash)).toBe(
    '$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$ZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY',
  )
})

test('a PHC string parses to the password hash that it was made from', () => {
  expect(parsePhc(formatPhc(hash))).toEqual(hash)
})

test.each([
  '',
  'plain',
  '$argon2i$v=19$m=1,t=1,p=1$AA$AA',
  '$argon2id$v=16$m=1,t=1,p=1$AA$AA',
  '$argon2id$v=19$m=1,t=1$AA$AA',
])('a malformed PHC string is refused and not quoted: %j', (text) => {
  expect(() => parsePhc(text)).toThrow(/^a stored password hash is not readable$/)
})
