import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { UsageError } from '../errors.ts'
import type { Terminal } from '../terminal.ts'
import type { Progress } from './checkpoint.ts'

/** A line of an input file. */
export interface Line {
  /** Line number, counted from 1. */
  number: number
  text: string
  /** Byte position in the input after this line. */
  end: number
}

/** Maximum length of an input line in bytes: four times the largest event that the bus accepts. */
const maxLineBytes = 1_048_576

/** Reads an input line by line. `before` is the number of bytes of the input that precede these. */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  before = { lines: 0, bytes: 0 },
): AsyncGenerator<Line> {
  let { lines: number, bytes: end } = before
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of input) {
    const bytes = Buffer.concat([rest, chunk])
    let start = 0
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, start)) {
      number += 1
      end += at + 1 - start
      yield { number, text: bytes.toString('utf8', start, at), end }
      start = at + 1
    }
    rest = bytes.subarray(start)
    if (rest.length > maxLineBytes)
      throw new UsageError(`line ${number + 1} is longer than ${maxLineBytes} bytes`)
  }
  if (rest.length > 0) yield { number: number + 1, text: rest.toString('utf8'), end: end + rest.length }
}

/** An input of `event put`: a file or standard input. */
export interface Input {
  /** Size of the input in bytes; undefined for standard input. */
  size: number | undefined
  /**
   * Reads the lines after the saved progress. Throws a UsageError if the progress belongs to another input.
   */
  lines: (progress: Progress) => AsyncGenerator<Line>
}

/** Opens an input file, or standard input for `-`. */
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

/** Checks the first line of an input file against the progress, then continues at the saved position. */
async function* resumeFile(file: string, progress: Progress): AsyncGenerator<Line> {
  for await (const first of readLines(createReadStream(file))) {
    checkFirstLine(first, progress)
    break
  }
  yield* readLines(createReadStream(file, { start: progress.bytes }), progress)
}

/** Reads standard input from its beginning, and skips the lines that an earlier run has sent. */
async function* resumeStream(input: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Line> {
  const done = progress.lines
  for await (const line of readLines(input)) {
    if (line.number === 1) checkFirstLine(line, progress)
    if (line.number > done) yield line
  }
}

function checkFirstLine({ text }: Line, progress: Progress): void {
  const digest = createHash('sha256').update(text).digest('base64url')
  progress.first_line ??= digest
  if (progress.first_line !== digest)
    throw new UsageError('the checkpoint belongs to another input: name another file, or use --restart')
}
