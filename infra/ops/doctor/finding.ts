/** What a check of `doctor` found. */
export interface Finding {
  ok: boolean
  /** What the check found, in a few words. */
  words: string
}
