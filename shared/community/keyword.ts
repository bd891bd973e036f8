import * as v from 'valibot'
import { countCharacters } from '../fields.ts'
import { EmailAddress, maskEmail, normalizeEmail } from '../users/identity.ts'

/** Schema of a keyword, without outer space: at most as long as an email address. An empty one finds all. */
export const KeywordText = v.pipe(
  v.string(),
  // The same as the checks below, for the API reference.
  v.metadata({ pattern: String.raw`^\s*(?!\s)[\s\S]{0,254}\s*$` }),
  v.trim(),
  v.check((keyword) => countCharacters(keyword) <= 254, 'must have at most 254 characters'),
)

/** A keyword, prepared for comparing it with many members. */
export interface Keyword {
  /** The keyword as it is compared with search texts. */
  folded: string
  /** The keyword in the form in which sign-in compares email addresses; undefined if it is none. */
  address: string | undefined
  /** Whether it is long enough to match a part of a masked email address. */
  matchesParts: boolean
}

/** Minimum length of a keyword that matches a part of a masked email address, in characters. */
export const minPartLength = 3

/** Prepares a keyword. */
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
 * What keywords are looked for in, without regard to case and compatibility forms. Of the email address it
 * has only what other members see, so that no search can find out what the mask hides.
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
  nickname: fold(nickname),
  maskedEmail: fold(maskEmail(email)),
})

/** Folds case as sign-in does with addresses; the two small sigmas are one letter, too (Unicode §5.18). */
const fold = (text: string): string => normalizeEmail(text).replaceAll('ς', 'σ')

/** Whether a keyword is the beginning of a word of the nickname, or a part of the masked email address. */
export const matchesText = (
  { nickname, maskedEmail }: SearchText,
  { folded, matchesParts }: Keyword,
): boolean => beginsWord(nickname, folded) || (matchesParts && maskedEmail.includes(folded))

/** A word begins at a letter or digit that follows neither, and after a space or at the start of a text. */
const wordStart = /(?<![\p{L}\p{M}\p{N}])[\p{L}\p{N}]|(?<!\S)\S/uy

/** The indexes at which the words of a text begin. */
export const wordStarts = (text: string): number[] =>
  Array.from(text.matchAll(anyWordStart), ({ index }) => index)

const anyWordStart = new RegExp(wordStart, 'gu')

/** Whether some word of a text begins with a keyword, which may go on into the next words. */
function beginsWord(text: string, keyword: string): boolean {
  for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, at + 1)) {
    wordStart.lastIndex = at
    if (wordStart.test(text)) return true
  }
  return false
}
