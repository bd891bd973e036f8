/** What a check of `doctor` found. */
export interface Finding {
  ok: boolean
  words: string
}

/** Creates the finding of a check: the problems that it found, or that all is well. */
export const judge = (problems: readonly string[], well: string): Finding =>
  problems.length === 0 ? { ok: true, words: well } : { ok: false, words: problems.join('; ') }
