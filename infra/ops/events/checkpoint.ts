import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { UsageError } from '../errors.ts'

/** How far an input file has been sent. The bus has accepted or rejected every line up to `lines`. */
export const Progress = v.object({
  /** Id that marks the events of this input; a resumed run keeps it. */
  run: v.string(),
  /** Digest of the input's first line, which detects a checkpoint of another input. */
  first_line: v.nullable(v.string()),
  lines: v.number(),
  bytes: v.number(),
  sent: v.number(),
  /** Number of events sent, by detail-type. */
  types: v.record(v.string(), v.number()),
  /** Number of input lines that could not be sent. */
  refused: v.number(),
  /** The first input lines that could not be sent, with the reasons. */
  refusals: v.array(v.object({ line: v.number(), reason: v.string() })),
})
export type Progress = v.InferOutput<typeof Progress>

/** Returns the progress of an input of which nothing has been sent. */
export const newProgress = (): Progress => ({
  run: randomUUID(),
  first_line: null,
  lines: 0,
  bytes: 0,
  sent: 0,
  types: {},
  refused: 0,
  refusals: [],
})

/** Saves the progress of `event put`, so that it can be resumed after a crash. */
export interface Checkpoint {
  read: () => Progress | undefined
  /** Replaces the saved progress atomically. */
  write: (progress: Progress) => void
  remove: () => void
}

/** Opens the checkpoint in a file. Without a file, nothing is saved. */
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
    throw new UsageError(`${file} is not a checkpoint: remove it to start from the first line`)
  }
}
