import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import { UsageError } from '../problems.ts'

/** How far an input has been sent: everything before is on the bus, or refused. */
export const Progress = v.object({
  /** Marks the events of this input, across all its runs. */
  run: v.string(),
  /** Digest of the input's first line: another input is not resumed by mistake. */
  first_line: v.nullable(v.string()),
  lines: v.number(),
  bytes: v.number(),
  sent: v.number(),
  /** Events sent, by type. */
  types: v.record(v.string(), v.number()),
  refused: v.number(),
  /** The first of the refused lines, and why; `refused` counts all. */
  refusals: v.array(v.object({ line: v.number(), reason: v.string() })),
})
export type Progress = v.InferOutput<typeof Progress>

/** Keeps the progress in a file, so that a run that died is gone on with. */
export interface Checkpoint {
  read: () => Progress | undefined
  /** Written whole or not at all, whenever this process dies. */
  write: (progress: Progress) => void
  remove: () => void
}

/** The checkpoint in a file; without one nothing is kept. */
export function openCheckpoint(file: string | undefined): Checkpoint {
  if (file === undefined) return { read: () => undefined, write: () => undefined, remove: () => undefined }
  return {
    read: () => (existsSync(file) ? parse(file) : undefined),
    write(progress) {
      writeFileSync(`${file}.new`, JSON.stringify(progress))
      renameSync(`${file}.new`, file)
    },
    remove: () => rmSync(file, { force: true }),
  }
}

function parse(file: string): Progress {
  try {
    return v.parse(Progress, JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    throw new UsageError(`${file} is no checkpoint: remove it to start from the first line`)
  }
}
