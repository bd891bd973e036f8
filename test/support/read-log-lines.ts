import { existsSync, readFileSync } from 'node:fs'

/** The lines that functions of a local stack have logged, from the previous and the current log file. */
export const readLogLines = (logFile: string): string[] =>
  [`${logFile}.previous`, logFile]
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
