/**
 * Reads a code as people type or paste it: with full-width digits, spaces, dashes, zero-width and direction
 * marks, and the full stop of the sentence. The API takes the digits only.
 */
export const readCode = (typed: string): string =>
  typed
    .normalize('NFKC')
    .replaceAll(/[\s\p{Cf}\p{Pd}]/gu, '')
    .replace(/[.\u3002]$/, '')
