/** Dots above that remain when a dotted capital I is folded, and what stands for an apostrophe in type. */
const dots = /(?<=i)\u0307/g
const apostrophes = /[\u2018\u2019\u02bc]/g

/**
 * Folds a text for comparison without regard to case: compatibility forms (NFKC) and full case folding
 * (Unicode §3.13), so that `ß` is `ss` and all sigmas are one. Dotted and dotless i are one, and so are
 * typographic and plain apostrophes. JavaScript has no case folding: lower case first, because capital sharp
 * s has no upper case of two letters, then upper case, which spells letters out, then lower case.
 */
export const foldCase = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(dots, '')
    .replaceAll('ς', 'σ')
    .replace(apostrophes, "'")
    .normalize('NFKC')
