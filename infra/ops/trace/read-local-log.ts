import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type FindLines, instantOf, type LogLine, readLine } from './log-lines.ts'

/** Finds lines in the local stack's log file, `INSTANT FUNCTION LINE`, and in the one that it replaced. */
export const searchLocalLog =
  (file: string): FindLines =>
  async (texts) => {
    const found: LogLine[] = []
    for (const path of [`${file}.previous`, file].filter((name) => existsSync(name)))
      for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
        if (texts.some((text) => line.includes(text))) found.push(parse(line))
    return found
  }

function parse(line: string): LogLine {
  const [, instant = '', name = '', text = ''] = /^(\S+) (\S+) (.*)$/.exec(line) ?? []
  const fields = readLine(text)
  return { at: instantOf(fields, Date.parse(instant)), function: name, fields }
}
