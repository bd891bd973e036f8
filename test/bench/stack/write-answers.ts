import { writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { RecordedAnswer } from './recorder.ts'

/** Writes recorded answers as no-network.mjs reads them, and returns the file. */
export function writeAnswers(answers: readonly RecordedAnswer[], directory: string): string {
  const file = join(directory, `${randomUUID()}.json`)
  writeFileSync(
    file,
    JSON.stringify(answers.map((answer) => ({ ...answer, body: answer.body.toString('base64') }))),
  )
  return file
}
