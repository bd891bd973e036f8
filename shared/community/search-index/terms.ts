import { minPartLength, type SearchText, wordStarts } from '../keyword.ts'

/**
 * A term is a text that a keyword may be: each beginning of a nickname from one of its words on, and each
 * part of a masked email address. The index knows terms by two hashes, so it holds no name and no address.
 */
export interface Term {
  /** Number of the term's cell, of `2 ** cellBits`. */
  cell: number
  /** Tells the terms of one cell apart: 38 bits, so two of a thousand terms are alike once in 10^5 cells. */
  print: number
}

export const cellBits = 12
export const printBits = 38

/** Maximum length of a term in UTF-16 code units. A longer keyword is looked up by its beginning. */
export const maxTermLength = 32

/** Calls `emit` with every term of a search text; some more than once. */
export function eachTerm({ nickname, maskedEmail }: SearchText, emit: (term: Term) => void): void {
  for (const start of wordStarts(nickname)) eachBeginning(nickname, start, 1, emit)
  for (let start = 0; start < maskedEmail.length; start += 1)
    if (!isInsideCharacter(maskedEmail, start)) eachBeginning(maskedEmail, start, minPartLength, emit)
}

/** The term to look a keyword up by, and whether it is the whole keyword. */
export function termOf(folded: string): Term & { isWhole: boolean } {
  let last: Term | undefined
  eachBeginning(folded, 0, 1, (term) => (last = term))
  if (last === undefined) throw new Error('an empty keyword is no term')
  return { ...last, isWhole: folded.length <= maxTermLength }
}

/** Calls `emit` with the parts of a text that begin at an index and have enough characters. */
function eachBeginning(text: string, start: number, minCharacters: number, emit: (term: Term) => void): void {
  // Two hashes at once: FNV-1a, and one with the multiplier of MurmurHash2.
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
    if (characters < minCharacters) continue
    const mixed = mix(one)
    emit({ cell: mixed >>> (32 - cellBits), print: (mixed & 0x3f) * 2 ** 32 + mix(other) })
  }
}

/** Whether an index is between the two code units of one character. */
const isInsideCharacter = (text: string, index: number): boolean =>
  (text.charCodeAt(index) & 0xfc00) === 0xdc00

/** The finalizer of MurmurHash3, in which every bit depends on all others. */
function mix(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
