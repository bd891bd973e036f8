import * as v from 'valibot'
import { countCharacters } from '../../fields.ts'
import { foldCase } from '../../fold-case.ts'
import { EmailAddress, maskEmail } from '../../users/identity.ts'
import { normalizeEmail } from '../../users/normalize-email.ts'

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
  /** Whether the address is in masked form, as lists show it. A search for it guesses nothing. */
  isMasked: boolean
  /** Whether the keyword is long enough to match a part of a masked email address. */
  matchesParts: boolean
}

/** Minimum length, in characters, of a keyword that can match a part of a masked email address. */
const minPartLength = 3

/** A masked address: the mask, with at most one character on either side of it, before the @. */
const maskedShape = /^[^@]?\*{3}[^@]?@/u

/** Prepares a keyword for searches. */
export function toKeyword(text: string): Keyword {
  const folded = fold(text)
  const address = normalizeEmail(text)
  return {
    folded,
    address: v.is(EmailAddress, address) ? address : undefined,
    isMasked: maskedShape.test(text.trim().normalize('NFKC')),
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
 * shorter. Without a limit, one name could fill a leaf, because folding can turn one letter into eighteen.
 */
const maxSearchLength = 256

const cut = (text: string): string => text.slice(0, maxSearchLength).toWellFormed()

const fold = (text: string): string => foldCase(text.trim().toWellFormed())

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
