import { setImmediate } from 'node:timers/promises'
import * as v from 'valibot'
import type { ArchiveModel, StackModel } from '../../model.ts'
import type { Store } from '../storage/store.ts'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'
import type { Archives, Span } from './archives.ts'
import type { Rules } from './rules.ts'

interface Replay {
  ReplayName: string
  EventSourceArn: string
  EventStartTime: number
  EventEndTime: number
  State: 'RUNNING' | 'COMPLETED'
}

/** An instant as AWS's JSON protocols write it: seconds since the epoch, with a fraction. */
const Timestamp = v.number()

const StartReplayInput = v.object({
  ReplayName: v.pipe(v.string(), v.regex(/^[.\-_A-Za-z0-9]{1,64}$/)),
  EventSourceArn: v.string(),
  EventStartTime: Timestamp,
  EventEndTime: Timestamp,
  Destination: v.object({ Arn: v.string(), FilterArns: v.optional(v.array(v.string())) }),
})
type StartReplayInput = v.InferOutput<typeof StartReplayInput>

/** EventBridge's operations on archives and replays. A restart forgets replays, and ends those under way. */
export function replayOperations(
  { archives: models, region, accountId }: StackModel,
  archives: Archives,
  rules: Rules,
  store: Store,
): Record<string, Operation> {
  const replays = new Map<string, Replay>()
  const arnOf = (resource: string) => `arn:aws:events:${region}:${accountId}:${resource}`
  const busArn = ({ busName }: ArchiveModel) => arnOf(`event-bus/${busName}`)
  const find = <Found>(found: Found | undefined, what: string): Found => {
    if (found !== undefined) return found
    throw new AwsError('ResourceNotFoundException', `${what} does not exist.`)
  }

  const start = (input: StartReplayInput) => {
    const { ReplayName, EventSourceArn, EventStartTime, EventEndTime, Destination } = input
    const archive = find(
      models.find(({ arn }) => arn === EventSourceArn),
      `Archive ${EventSourceArn}`,
    )
    if (replays.has(ReplayName))
      throw new AwsError('ResourceAlreadyExistsException', `Replay ${ReplayName} already exists.`)
    if (Destination.Arn !== busArn(archive))
      throw new AwsError('ValidationException', 'The destination must be the event bus of the archive.')
    if (EventStartTime >= EventEndTime)
      throw new AwsError('ValidationException', 'EventEndTime must be after EventStartTime.')
    const replay: Replay = { ReplayName, EventSourceArn, EventStartTime, EventEndTime, State: 'RUNNING' }
    replays.set(ReplayName, replay)
    void run(archive, replay, Destination.FilterArns)
    return { ReplayArn: arnOf(`replay/${ReplayName}`), State: 'STARTING' }
  }

  const run = async (archive: ArchiveModel, replay: Replay, ruleArns: string[] | undefined) => {
    const span: Span = { from: replay.EventStartTime * 1000, to: replay.EventEndTime * 1000 }
    await setImmediate()
    for (const texts of store.isOpen() ? archives.minutes(archive, span) : []) {
      store.atomically(() => {
        for (const text of texts) rules.replay(archive.busName, text, replay.ReplayName, ruleArns)
      })
      await setImmediate()
      if (!store.isOpen()) return
    }
    replay.State = 'COMPLETED'
  }

  return {
    DescribeArchive: defineOperation(
      v.object({ ArchiveName: v.string() }),
      ({ ArchiveName }) => ({ action: 'events:DescribeArchive', resource: arnOf(`archive/${ArchiveName}`) }),
      ({ ArchiveName }) => {
        const archive = find(
          models.find(({ name }) => name === ArchiveName),
          `Archive ${ArchiveName}`,
        )
        return { ArchiveName, ArchiveArn: archive.arn, EventSourceArn: busArn(archive), State: 'ENABLED' }
      },
    ),
    StartReplay: defineOperation(
      StartReplayInput,
      ({ EventSourceArn }) => ({ action: 'events:StartReplay', resource: EventSourceArn }),
      start,
    ),
    DescribeReplay: defineOperation(
      v.object({ ReplayName: v.string() }),
      ({ ReplayName }) => ({ action: 'events:DescribeReplay', resource: arnOf(`replay/${ReplayName}`) }),
      ({ ReplayName }) => find(replays.get(ReplayName), `Replay ${ReplayName}`),
    ),
  }
}
