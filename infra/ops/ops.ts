import type { Target } from './target.ts'
import type { Terminal } from './terminal.ts'

/** What a command works with. */
export interface Ops {
  target: Target
  terminal: Terminal
  /** Shows a result: as JSON where that was asked for, otherwise as the text for a person. */
  show: (result: unknown, text: () => string) => void
}

/** Carries out a command on the chosen deployment; false for findings, exit code 1. */
export type Carry = (work: (ops: Ops) => Promise<boolean | undefined>) => Promise<void>
