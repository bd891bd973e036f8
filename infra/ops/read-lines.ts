import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { UsageError } from './errors.ts'
import type { Terminal } from './terminal.ts'

/** Reads a file line by line, or standard input for `-`. Throws a UsageError if there is no such file. */
export function readLines(file: string, terminal: Terminal): AsyncIterable<string> {
  if (file !== '-' && !existsSync(file)) throw new UsageError(`there is no file ${file}`)
  const input = file === '-' ? Readable.from(terminal.readInput()) : createReadStream(file)
  return createInterface({ input, crlfDelay: Infinity })
}
