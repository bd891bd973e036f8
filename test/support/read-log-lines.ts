import { existsSync, readFileSync } from 'node:fs'

/** The lines that the functions of a local stack have logged, with the 20 MB before those of its log file. */
export const readLogLines = (logFile: string): string[] =>
  [`${logFile}.previous`, logFile]
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
