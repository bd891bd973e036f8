import { createReadStream, statSync } from 'node:fs'
import { UsageError } from '../problems.ts'
import type { Terminal } from '../terminal.ts'
import type { Progress } from './checkpoint.ts'
import { type Line, readLines } from './read-lines.ts'
import { digestLine } from './send-input.ts'

/** Where events come from. */
export interface Input {
  /** Bytes in all; undefined where nobody knows before the end. */
  size: number | undefined
  /** The lines from where the progress stands. Throws a UsageError where the progress is that of another input. */
  lines: (progress: Progress) => AsyncGenerator<Line>
}

/** Opens a file, or with `-` standard input. */
export function openInput(file: string, terminal: Terminal): Input {
  if (file === '-')
    return { size: undefined, lines: (progress) => resumeStream(terminal.readInput(), progress) }
  const size = fileSize(file)
  return { size, lines: (progress) => resumeFile(file, progress) }
}

function fileSize(file: string): number {
  try {
    return statSync(file).size
  } catch {
    throw new UsageError(`there is no file ${file}`)
  }
}

/** A file is read from where it was left; only its first line is read again. */
async function* resumeFile(file: string, progress: Progress): AsyncGenerator<Line> {
  for await (const first of readLines(createReadStream(file))) {
    recognise(first, progress)
    break
  }
  yield* readLines(createReadStream(file, { start: progress.bytes }), progress)
}

/** A stream is read from its beginning, and what was sent is passed over. */
async function* resumeStream(input: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Line> {
  const done = progress.lines
  for await (const line of readLines(input)) {
    if (line.number === 1) recognise(line, progress)
    if (line.number > done) yield line
  }
}

function recognise(first: Line, progress: Progress): void {
  const digest = digestLine(first.text)
  progress.first_line ??= digest
  if (progress.first_line !== digest)
    throw new UsageError('the checkpoint is that of another input: name another one, or --restart')
}
