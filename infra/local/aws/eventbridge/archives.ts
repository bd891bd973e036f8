import type { ArchiveModel, StackModel } from '../../model.ts'
import type { Store } from '../storage/store.ts'
import { compilePattern } from './pattern.ts'

const schema = `
  CREATE TABLE IF NOT EXISTS archived_events (archive TEXT, at INTEGER, id TEXT, event TEXT);
  CREATE INDEX IF NOT EXISTS archived_events_at ON archived_events (archive, at)`

/** Events from one instant up to another, which is excluded, epoch milliseconds. */
export interface Span {
  from: number
  to: number
}

/** An event as the bus delivers it, and its text. */
export interface SealedEvent {
  head: { id: string; time: string }
  text: string
}

/** The archives of the stack, in the store. */
export type Archives = ReturnType<typeof openArchives>

const minute = 60_000

/** Opens the archives of the stack. Throws on an event pattern that is not emulated. */
export function openArchives({ archives }: StackModel, { database }: Store) {
  database.exec(schema)
  const insert = database.prepare('INSERT INTO archived_events VALUES (?, ?, ?, ?)')
  const select = database.prepare(
    'SELECT event FROM archived_events WHERE archive = ? AND at >= ? AND at < ? ORDER BY id',
  )
  const next = database.prepare(
    'SELECT MIN(at) AS at FROM archived_events WHERE archive = ? AND at >= ? AND at < ?',
  )
  const tests = archives.map((archive) => ({ archive, matches: compilePattern(archive.pattern) }))
  return {
    /** Keeps an event in every archive of its bus whose pattern it matches. */
    keep(busName: string, { head, text }: SealedEvent, whole: unknown): void {
      for (const { archive, matches } of tests)
        if (archive.busName === busName && matches(whole))
          insert.run(archive.name, Date.parse(head.time), head.id, text)
    },
    /**
     * Yields the texts of archived events, minute by minute of their times, and within a minute in the order
     * of their random ids: a replay keeps no other order (EventBridge: StartReplay).
     */
    *minutes({ name }: ArchiveModel, { from, to }: Span): Generator<string[]> {
      for (let start = from; ;) {
        const at = next.get(name, start, to)?.['at']
        if (typeof at !== 'number') return
        const end = Math.min(to, at - (at % minute) + minute)
        yield select.all(name, at, end).map(({ event }) => String(event))
        start = end
      }
    },
  }
}
