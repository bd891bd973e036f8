import * as v from 'valibot'
import { countCharacters } from '../../fields.ts'
import { EmailAddress, maskEmail, normalizeEmail } from '../../users/identity.ts'

/** Schema of a keyword: trimmed, at most 254 characters. An empty keyword finds all members. */
export const KeywordText = v.pipe(
  v.string(),
  v.metadata({ maxLength: 254 }),
  v.trim(),
  v.check((keyword) => countCharacters(keyword) <= 254, 'must have at most 254 characters'),
)

/** A keyword, prepared for comparing it with many members. */
export interface Keyword {
  /** The keyword in the form that is compared with search texts. */
  folded: string
  /** The keyword as an email address, normalized as in sign-in; undefined if it is no address. */
  address: string | undefined
  /** Whether the keyword is long enough to match a part of a masked email address. */
  matchesParts: boolean
}

/** Minimum length, in characters, of a keyword that can match a part of a masked email address. */
const minPartLength = 3

/** Prepares a keyword for searches. */
export function toKeyword(text: string): Keyword {
  const folded = fold(text)
  const address = normalizeEmail(text)
  return {
    folded,
    address: v.is(EmailAddress, address) ? address : undefined,
    matchesParts: Array.from(folded).length >= minPartLength,
  }
}

/**
 * The texts of a member that a search compares with a keyword. Case and compatibility forms are folded. The
 * email address is masked, so that no search can find the hidden characters one by one.
 */
export interface SearchText {
  nickname: string
  maskedEmail: string
}

/** Whether two search texts are the same. */
export const isSameText = (one: SearchText, other: SearchText | undefined): boolean =>
  one.nickname === other?.nickname && one.maskedEmail === other.maskedEmail

/** A member's search text. */
export const toSearchText = ({ nickname, email }: { nickname: string; email: string }): SearchText => ({
  nickname: cut(fold(nickname)),
  maskedEmail: cut(fold(maskEmail(email))),
})

/**
 * Maximum length of a search text in UTF-16 code units. Folded names and addresses of real people are
 * shorter. Without a limit, one name could fill an index, because folding can turn one letter into eighteen.
 */
const maxSearchLength = 256

const cut = (text: string): string => text.slice(0, maxSearchLength).toWellFormed()

/** Folds case (as sign-in does in email addresses) and treats both small sigmas as equal (Unicode §5.18). */
const fold = (text: string): string => normalizeEmail(text).replaceAll('ς', 'σ')

/** Whether a keyword is the beginning of a word of the nickname, or a part of the masked email address. */
export const matchesText = (
  { nickname, maskedEmail }: SearchText,
  { folded, matchesParts }: Keyword,
): boolean => beginsWord(nickname, folded) || (matchesParts && maskedEmail.includes(folded))

/** A word begins at the text's start, after a space, or with a letter or digit after other characters. */
const wordStart = /(?<![\p{L}\p{M}\p{N}])[\p{L}\p{N}]|(?<!\S)\S/gu

const wordStarts = (text: string): number[] => Array.from(text.matchAll(wordStart), ({ index }) => index)

/** Whether a text contains a keyword at the start of a word; the keyword can span several words. */
const beginsWord = (text: string, keyword: string): boolean =>
  text.includes(keyword) && wordStarts(text).some((start) => text.startsWith(keyword, start))

/**
 * Calls `emit` with the hash of every term of a search text; terms can repeat. A term is a possible keyword:
 * a part of the nickname from the start of a word, or any part of the masked email address. Because the index
 * stores terms as hashes, its blocks of terms show no names and no addresses. A segment has some 300,000
 * terms. Only one in ten thousand segments has two terms with the same hash.
 */
export function eachTerm({ nickname, maskedEmail }: SearchText, emit: (term: number) => void): void {
  for (const start of wordStarts(nickname)) eachBeginning(nickname, start, 1, emit)
  for (let start = 0; start < maskedEmail.length; start += 1)
    if (!isInsideCharacter(maskedEmail, start)) eachBeginning(maskedEmail, start, minPartLength, emit)
}

export const termBits = 49

/** Maximum length of a term in UTF-16 code units. A longer keyword is looked up by its beginning. */
const maxTermLength = 32

/** Returns the hash by which a keyword is looked up, and whether the hash covers the whole keyword. */
export function termOf(folded: string): { term: number; isWhole: boolean } {
  let last: number | undefined
  eachBeginning(folded, 0, 1, (term) => (last = term))
  if (last === undefined) throw new Error('an empty keyword is no term')
  return { term: last, isWhole: folded.length <= maxTermLength }
}

function eachBeginning(
  text: string,
  start: number,
  minCharacters: number,
  emit: (term: number) => void,
): void {
  // Computes two hashes at once: FNV-1a, and a hash with the multiplier of MurmurHash2.
  let one = 0x811c9dc5
  let other = 0x9747b28c
  let characters = 0
  const end = Math.min(text.length, start + maxTermLength)
  for (let i = start; i < end; i += 1) {
    const unit = text.charCodeAt(i)
    one = Math.imul(one ^ unit, 0x01000193)
    other = Math.imul(other ^ unit, 0x5bd1e995)
    other ^= other >>> 13
    if (isInsideCharacter(text, i + 1)) continue
    characters += 1
    if (characters >= minCharacters) emit(mix(one) * 2 ** 17 + (mix(other) >>> 15))
  }
}

/** Whether an index is between the two code units of a surrogate pair. */
const isInsideCharacter = (text: string, index: number): boolean =>
  (text.charCodeAt(index) & 0xfc00) === 0xdc00

/** The finalizer of MurmurHash3: each bit of its result depends on all bits of its input. */
function mix(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
