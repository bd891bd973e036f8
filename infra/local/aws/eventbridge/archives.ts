import * as v from 'valibot'
import type { ArchiveModel, StackModel } from '../../model.ts'
import type { Store } from '../storage/store.ts'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'
import { compilePattern } from './pattern.ts'

const schema = `
  CREATE TABLE IF NOT EXISTS archived_events (archive TEXT, at INTEGER, id TEXT, event TEXT);
  CREATE INDEX IF NOT EXISTS archived_events_at ON archived_events (archive, at)`

/** An event with its EventBridge envelope, as JSON text; `id` and `time` are those of the envelope. */
export interface SealedEvent {
  head: { id: string; time: string }
  text: string
}

/** The event archives of the stack, which are kept in the store. */
export type Archives = ReturnType<typeof openArchives>

/** Opens the stack's EventBridge archives. Throws on an event pattern that is not emulated. */
export function openArchives({ archives }: StackModel, { database }: Store) {
  database.exec(schema)
  const insert = database.prepare('INSERT INTO archived_events VALUES (?, ?, ?, ?)')
  // EventBridge replays events minute by minute, in any order within a minute (EventBridge: StartReplay).
  const select = database.prepare(
    'SELECT event FROM archived_events WHERE archive = ? AND at >= ? AND at < ? ORDER BY at / 60000, id',
  )
  const tests = archives.map((archive) => ({ archive, matches: compilePattern(archive.pattern) }))
  return {
    /** Stores an event in the archives of its bus. Each archive takes only events that match its pattern. */
    keep(busName: string, { head, text }: SealedEvent, whole: unknown): void {
      for (const { archive, matches } of tests)
        if (archive.busName === busName && matches(whole))
          insert.run(archive.name, Date.parse(head.time), head.id, text)
    },
    /** Lists an archive's events, as JSON texts, between `from` (included) and `to` (excluded). */
    list: ({ name }: ArchiveModel, from: number, to: number): string[] =>
      select.all(name, from, to).map(({ event }) => String(event)),
  }
}

const StartReplayInput = v.object({
  ReplayName: v.pipe(v.string(), v.regex(/^[.\-_A-Za-z0-9]{1,64}$/)),
  EventSourceArn: v.string(),
  // Instants are seconds since the epoch, with a fraction.
  EventStartTime: v.number(),
  EventEndTime: v.number(),
  Destination: v.object({ Arn: v.string(), FilterArns: v.optional(v.array(v.string())) }),
})

type Replay = (busName: string, archived: string, replayName: string, ruleArns?: readonly string[]) => void

/** EventBridge's operations on archives and replays. Replays complete at once; their names are not stored. */
export function archiveOperations(
  { archives: models, region, accountId }: StackModel,
  archives: Archives,
  replay: Replay,
  store: Store,
): Record<string, Operation> {
  const replays = new Set<string>()
  const arnOf = (resource: string) => `arn:aws:events:${region}:${accountId}:${resource}`
  const busArn = ({ busName }: ArchiveModel) => arnOf(`event-bus/${busName}`)
  const find = (arn: string): ArchiveModel => {
    const found = models.find((archive) => archive.arn === arn)
    if (found !== undefined) return found
    throw new AwsError('ResourceNotFoundException', `Archive ${arn} does not exist.`)
  }
  return {
    DescribeArchive: defineOperation(
      v.object({ ArchiveName: v.string() }),
      ({ ArchiveName }) => ({ action: 'events:DescribeArchive', resource: arnOf(`archive/${ArchiveName}`) }),
      ({ ArchiveName }) => {
        const archive = find(arnOf(`archive/${ArchiveName}`))
        return { ArchiveName, ArchiveArn: archive.arn, EventSourceArn: busArn(archive), State: 'ENABLED' }
      },
    ),
    StartReplay: defineOperation(
      StartReplayInput,
      ({ EventSourceArn }) => ({ action: 'events:StartReplay', resource: EventSourceArn }),
      ({ ReplayName, EventSourceArn, EventStartTime, EventEndTime, Destination }) => {
        const archive = find(EventSourceArn)
        if (replays.has(ReplayName))
          throw new AwsError('ResourceAlreadyExistsException', `Replay ${ReplayName} already exists.`)
        if (Destination.Arn !== busArn(archive))
          throw new AwsError('ValidationException', 'The destination must be the event bus of the archive.')
        if (EventStartTime >= EventEndTime)
          throw new AwsError('ValidationException', 'EventEndTime must be after EventStartTime.')
        replays.add(ReplayName)
        store.atomically(() => {
          for (const text of archives.list(archive, EventStartTime * 1000, EventEndTime * 1000))
            replay(archive.busName, text, ReplayName, Destination.FilterArns)
        })
        return { ReplayArn: arnOf(`replay/${ReplayName}`), State: 'STARTING' }
      },
    ),
    DescribeReplay: defineOperation(
      v.object({ ReplayName: v.string() }),
      ({ ReplayName }) => ({ action: 'events:DescribeReplay', resource: arnOf(`replay/${ReplayName}`) }),
      ({ ReplayName }) => {
        if (replays.has(ReplayName)) return { ReplayName, State: 'COMPLETED' }
        throw new AwsError('ResourceNotFoundException', `Replay ${ReplayName} does not exist.`)
      },
    ),
  }
}
