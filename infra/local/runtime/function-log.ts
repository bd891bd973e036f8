import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Receives the lines that functions write to standard output and standard error. */
export type FunctionLog = ReturnType<typeof openFunctionLog>

/**
 * Maximum size of the log file. A full file is renamed to `FILE.previous`, and replaces an older file of that
 * name.
 */
const maxFileBytes = 20_000_000

/**
 * Opens a log. Its `write` appends a line to `file` as `INSTANT FUNCTION LINE`. `write` also shows important
 * lines: structured ones with level WARN or higher, and others that mention an error or a warning.
 */
export function openFunctionLog(file: string, showLine: (line: string) => void) {
  mkdirSync(dirname(file), { recursive: true })
  let written = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return {
    write(functionName: string, line: string): void {
      const text = `${new Date().toISOString()} ${functionName} ${line}\n`
      if (written + text.length > maxFileBytes) {
        renameSync(file, `${file}.previous`)
        written = 0
      }
      written += text.length
      appendFileSync(file, text)
      if (needsAttention(line)) showLine(`${functionName}: ${line}`)
    },
  }
}

function needsAttention(line: string): boolean {
  const level = /^\{.*"level":"([A-Z]+)"/.exec(line)?.[1]
  if (level !== undefined) return ['WARN', 'ERROR', 'CRITICAL'].includes(level)
  return !line.startsWith('{') && /\b(error|exception|warn(ing)?)\b/i.test(line)
}
