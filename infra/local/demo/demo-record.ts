import { readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'

const Contents = v.object({
  /** First start of the data directory, epoch milliseconds. The dates of the demo data are relative to it. */
  first_start: v.number(),
  /** Keys of the sent events: none is sent twice, even if a later version words it differently. */
  sent: v.array(v.string()),
})

/** The record of the demo events that have been sent into a data directory. */
export type DemoRecord = ReturnType<typeof openDemoRecord>

/** Opens the record of sent demo events in a file. Without a file, the record is for this run only. */
export function openDemoRecord(file: string | undefined, now: number) {
  const { first_start, sent } = readContents(file) ?? { first_start: now, sent: [] }
  const save = () => {
    if (file !== undefined) writeFileSync(file, JSON.stringify({ first_start, sent }, undefined, 1))
  }
  save()
  return {
    firstStart: first_start,
    has: (key: string) => sent.includes(key),
    add(keys: string[]) {
      sent.push(...keys)
      save()
    },
  }
}

function readContents(file: string | undefined): v.InferOutput<typeof Contents> | undefined {
  if (file === undefined) return undefined
  try {
    return v.parse(Contents, JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
