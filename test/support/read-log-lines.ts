import { existsSync, readFileSync } from 'node:fs'

/** The lines that functions of a local stack have logged: the log file, and the 20 MB of lines before it. */
export const readLogLines = (logFile: string): string[] =>
  [`${logFile}.previous`, logFile]
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
