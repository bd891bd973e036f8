import { UsageError } from '../problems.ts'

/** A line of the input. */
export interface Line {
  /** Counted from 1. */
  number: number
  text: string
  /** Bytes of the input up to and with the end of this line. */
  end: number
}

/** Longest line that is read, in bytes: four times what the bus takes. */
const longestLine = 1_048_576

/** Reads lines one by one, whatever the input's size. `before` tells how much of the input came before these bytes. */
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
    if (rest.length > longestLine)
      throw new UsageError(`line ${number + 1} is longer than ${longestLine} bytes`)
  }
  if (rest.length > 0) yield { number: number + 1, text: rest.toString('utf8'), end: end + rest.length }
}
