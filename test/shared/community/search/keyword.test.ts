import fc from 'fast-check'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import {
  KeywordText,
  matchesText,
  toKeyword,
  toSearchText,
} from '../../../../shared/community/search/keyword.ts'
import { maskEmail } from '../../../../shared/users/identity.ts'
import { normalizeEmail } from '../../../../shared/users/normalize-email.ts'
import { matches } from '../../../support/community-model.ts'

function finds(sent: string, nickname: string, email: string): boolean {
  const keyword = toKeyword(sent)
  return keyword.address === normalizeEmail(email) || matchesText(toSearchText({ nickname, email }), keyword)
}

it.each([
  ['ann', 'Ann B'],
  ['ANN B', 'Ann B'],
  ['b', 'Ann B'],
  ['marie', 'Ann-Marie'],
  ['ann-m', 'Ann-Marie'],
  ['neil', 'O’Neil'],
  ["o'neil", 'O’Neil'],
  ['o’neil', "O'Neil"],
  ['STRASSE', 'Straße 1'],
  ['IŞIK', 'Işık'],
  ['istanbul', 'İstanbul'],
  ['smith', 'ann_smith'],
  ['Ç', 'çelik'],
  ['éva', 'E\u0301VA'],
  ['kim', '\u212aim'],
  ['οδος α', 'ΟΔΟΣ Αθηνα'],
  ['ΟΔΟΣ', 'οδοσα'],
  ['7', 'Agent 7'],
  ['🦊', '🦊 fox'],
  ['fox', '🦊fox'],
  ['@ann', '@ann'],
  ['田中', '田中太郎'],
])('the keyword %j finds the nickname %j', (keyword, nickname) => {
  expect(finds(keyword, nickname, 'x@y.zz')).toBe(true)
})

it.each([
  ['nn', 'Ann B'],
  ['nn b', 'Ann B'],
  ['annb', 'Ann B'],
  ['elik', 'çelik'],
  ['lik', 'c\u0327elik'],
  ['7', 'Agent007'],
  ['-m', 'Ann-Marie'],
  ['太郎', '田中太郎'],
  ['c', 'çelik'],
])('the keyword %j does not find the nickname %j', (keyword, nickname) => {
  expect(finds(keyword, nickname, 'x@y.zz')).toBe(false)
})

it.each([
  ['alice.smith@example.com', 'the whole address'],
  [' ALICE.SMITH@Example.COM ', 'the whole address in other case, with spaces around it'],
  ['\uff41lice.smith@example.com', 'the whole address in a compatibility form'],
  ['a***h@example.com', 'the whole masked address'],
  ['A**', 'its first three characters'],
  ['h@e', 'three characters around the @'],
  ['example.com', 'the domain'],
  ['PLE', 'a part of the domain'],
  ['***', 'the mask itself'],
])('the keyword %j finds Alice.Smith@Example.com: %s', (keyword) => {
  expect(finds(keyword, 'Zoe', 'Alice.Smith@Example.com')).toBe(true)
})

it.each([
  ['al', 'two characters'],
  ['@e', 'two characters of the masked address'],
  ['alice', 'what the mask hides'],
  ['smith@example.com', 'a part with hidden characters'],
  ['alice.smith@example.co', 'all but the last character'],
  ['ice.smith@example.com', 'all but the first characters'],
  ['alice.smith@', 'the local part'],
])('the keyword %j does not find Alice.Smith@Example.com: %s', (keyword) => {
  expect(finds(keyword, 'Zoe', 'Alice.Smith@Example.com')).toBe(false)
})

it.each([
  ['ab@example.com', 'a***@example.com', 'b@example.com'],
  ['a@example.com', 'a***@example.com', '@@example.com'],
])('the email address %j is found by its masked form %j, but not by %j', (email, part, hidden) => {
  expect(finds(part, 'Zoe', email)).toBe(true)
  expect(finds(hidden, 'Zoe', email)).toBe(false)
})

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789._-+'.split('')

const hidden = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 6 })

it('a search for part of an email address cannot distinguish two addresses with the same mask', () => {
  const keyword = fc.record({ from: fc.nat(20), length: fc.nat(20), of: fc.nat(3), tail: hidden })
  fc.assert(
    fc.property(hidden, hidden, keyword, (one, other, { from, length, of, tail }) => {
      const emails = [`a${one}z@ab.example`, `a${other}z@ab.example`] as const
      expect(maskEmail(emails[0])).toBe(maskEmail(emails[1]))
      const source = [...emails, maskEmail(emails[0]), emails[0].slice(0, from) + tail][of] ?? ''
      const guess = source.slice(from, from + length) || tail
      fc.pre(guess !== emails[0] && guess !== emails[1])
      expect(finds(guess, 'Zoe', emails[0])).toBe(finds(guess, 'Zoe', emails[1]))
    }),
    { numRuns: 1000 },
  )
})

it('for random keywords, the service and a simple model find the same members', () => {
  const text = fc.string({
    unit: fc.constantFrom(...Array.from('abÇçéK1 -_.@*🦊Ⅷﬁ')),
    minLength: 1,
    maxLength: 8,
  })
  fc.assert(
    fc.property(text, text, text, (name, local, sent) => {
      const keyword = v.parse(KeywordText, sent)
      const nickname = name.trim()
      const email = `${local.replaceAll(/[ @]/g, 'x')}@ab.example`
      fc.pre(keyword !== '')
      expect(finds(keyword, nickname, email)).toBe(matches({ nickname, email }, keyword))
    }),
    { numRuns: 1000 },
  )
})

it('a whole address is found in Unicode and in ASCII', () => {
  expect(finds('u@xn--bcher-kva.example', 'Zoe', 'u@bücher.example')).toBe(true)
  expect(finds('U@BÜCHER.example', 'Zoe', 'u@xn--bcher-kva.example')).toBe(true)
})

it.each(['xa***by@example.com', 'a***b@example.com', 'a***@example.com', '***@example.com'])(
  'the address %j, which has the mask in it, is found as a whole',
  (email) => expect(finds(email, 'Zoe', email)).toBe(true),
)

it.each(['a***e@example.com', 'a＊＊＊@example.com', 'ß***ß@example.com', '***@example.com'])(
  'the masked address %j is no guess',
  (masked) => expect(toKeyword(masked).isMasked).toBe(true),
)

it.each(['al***ce@example.com', 'a***ce@example.com', 'alice@example.com', 'a@***.example.com'])(
  'the address %j can be a guess',
  (address) => expect(toKeyword(address).isMasked).toBe(false),
)

it('a keyword has at most 254 characters, not counting spaces around it', () => {
  expect(v.parse(KeywordText, `  ${'a'.repeat(254)} `)).toBe('a'.repeat(254))
  expect(v.is(KeywordText, 'a'.repeat(255))).toBe(false)
  expect(toKeyword('\ufdfa@'.repeat(127)).address).toBeUndefined()
})

it('a nickname is cut to 256 characters after case folding, so that it cannot fill a leaf of a list', () => {
  const text = toSearchText({ nickname: '\ufdfa'.repeat(100), email: 'a@example.com' })
  expect(text.nickname.length).toBeLessThanOrEqual(256)
})
