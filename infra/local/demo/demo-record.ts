import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'

const DemoRecord = v.object({
  /** Epoch milliseconds of the first start: the demo data's dates count back from it for ever. */
  first_start: v.number(),
  /** What has been sent: it is never sent again, so that a later version's other words cannot contradict it. */
  sent: v.array(v.string()),
})

/** What has been sent into a data directory so far. */
export interface DemoMemory {
  firstStart: number
  hasSent: (key: string) => boolean
  remember: (keys: string[]) => void
}

/** Opens the memory kept in a file; without one it lasts as long as this process. */
export function openDemoMemory(file: string | undefined, now: number): DemoMemory {
  const record = (file === undefined ? undefined : readRecord(file)) ?? { first_start: now, sent: [] }
  const sent = new Set(record.sent)
  const keep = () => {
    if (file === undefined) return
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify({ ...record, sent: [...sent] }, undefined, 1))
  }
  keep()
  return {
    firstStart: record.first_start,
    hasSent: (key) => sent.has(key),
    remember(keys) {
      for (const key of keys) sent.add(key)
      keep()
    },
  }
}

function readRecord(file: string): v.InferOutput<typeof DemoRecord> | undefined {
  try {
    return v.parse(DemoRecord, JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
