import type { Table } from './report/table.ts'
import type { BenchStack } from './stack/start-bench-stack.ts'

/** How a run of the benchmark was asked for. */
export interface Options {
  /** Smaller data, so that a run takes a minute. */
  short: boolean
  /** How often each candidate is measured. */
  samples: number
  /** Whether peers may be installed with apt-get. */
  install: boolean
  /** Shows what is under way. */
  say: (line: string) => void
}

/** A part of the benchmark. */
export interface Part {
  title: string
  /** Whether the short run has it. */
  inShort: boolean
  run: (options: Options, stack: BenchStack) => Promise<Table[]>
}
