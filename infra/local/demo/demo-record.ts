import { readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'

const Contents = v.object({
  /** Epoch milliseconds of the first start. The dates of the demo data always count back from it. */
  first_start: v.number(),
  /** Keys of the events sent. A later version may word an event differently, so none is sent twice. */
  sent: v.array(v.string()),
})

/** What has been sent into a data directory so far. */
export type DemoRecord = ReturnType<typeof openDemoRecord>

/** Opens the record kept in the file, or without a file one for this run only. */
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
