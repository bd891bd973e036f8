import {
  DescribeArchiveCommand,
  DescribeReplayCommand,
  EventBridgeClient,
  StartReplayCommand,
} from '@aws-sdk/client-eventbridge'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { events } from '../../events.ts'
import type { CommandContext } from '../command.ts'
import { collectDeadLetters, dropDeadLetters, redriveDeadLetters } from '../dead-letters/actions.ts'
import { findQueue, onDeadLetters, openSqs, type QueuePair } from '../dead-letters/queues.ts'
import type { DeadLetter } from '../dead-letters/visit.ts'
import { OperationError } from '../errors.ts'
import { showFall, startProgress, waitVisibly } from '../progress.ts'
import type { Target } from '../target.ts'
import type { Terminal } from '../terminal.ts'
import { formatInstant } from '../format.ts'
import { keepRefused } from './keep-refused.ts'
import { awaitEmptyQueues } from './await-empty-queues.ts'

/** A span of time, epoch milliseconds: it includes `from` and excludes `to`. */
interface Span {
  from: number
  to: number
}

/**
 * Detail-types on which other events depend, in groups. A replay does not keep the order of events, so it
 * replays one group after another, and then all other types together.
 */
const first = [['user.registered', 'addresses.provisioned', 'rates.published'], ['address.assigned']]

const archived = events.filter(({ momentary }) => !momentary).map(({ detailType }) => detailType)
const groups = [...first, archived.filter((detailType) => !first.flat().includes(detailType))]

/** Maximum delay with which EventBridge archives an event (Archiving and replaying events). */
const archiveLagMilliseconds = 600_000

const maxListedPerQueue = 1_000

/** How long to wait until every event before `to` is in the archive; the local stack archives at once. */
export const archiveWait = (stage: string, { to }: Span, now: number): number =>
  stage === 'local' ? 0 : Math.max(0, to + archiveLagMilliseconds - now)

/**
 * Replays the archived events of a span of time, and waits until they are applied. A refused event may have
 * come before an event that it needs, so refused events are redriven until their number stops falling. Events
 * that keepRefused has blocked are not applied. Resolves with true if all other events took effect.
 */
export async function replayEvents(
  { target, terminal, show }: CommandContext,
  { from, to }: Span,
): Promise<boolean> {
  const milliseconds = archiveWait(target.stage, { from, to }, Date.now())
  if (milliseconds > 0)
    terminal.err(`waiting for the archive until ${formatInstant(Date.now() + milliseconds)}`)
  await waitVisibly(terminal, 'waiting', milliseconds)
  const sqs = openSqs()
  const run = `${target.stage}-${Date.now()}`
  const replays = groups.map((_, group) => `${run}-${group + 1}`)
  const pairs = archived.map((detailType) => findQueue(target, detailType))
  // If this worker's queue is empty, all entries in the journals of referral trees have been applied.
  const worker = findQueue(target, 'grow-tree')
  const { isKept, release } = await keepRefused(sqs, pairs, to)
  try {
    /** Whether every event has been applied or rejected. */
    let isSettled = true
    for (const [group, detailTypes] of groups.entries()) {
      const some = detailTypes.map((detailType) => findQueue(target, detailType))
      terminal.err(`replaying ${detailTypes.join(', ')}`)
      const rules = some.flatMap(({ queue }) => queue ?? [])
      const part = `part ${group + 1} of ${groups.length}`
      await replayArchive(target, replays[group] ?? '', { from, to }, rules, { terminal, part })
      using progress = startProgress(terminal, `applying ${part}`, 'events')
      isSettled = await awaitEmptyQueues(sqs, [...some, worker], showFall(progress.show))
      if (!isSettled) break
    }
    // An event that was rejected since `to` may have needed an earlier event. If the replay has supplied that
    // event, it succeeds now.
    const isOurs = ({ replay, since }: DeadLetter) =>
      replay === null ? since >= to : replays.includes(replay)
    const refusedAnew = (letter: DeadLetter) => isOurs(letter) && !isKept(letter)
    const rejected = isSettled ? await redriveWhileItHelps(sqs, pairs, worker, refusedAnew) : []
    // An event that was refused before the replay may have a second dead letter now. Drop the newer one.
    await onDeadLetters(sqs, pairs, ({ deadLetters }) =>
      dropDeadLetters(sqs, deadLetters, (letter) => isOurs(letter) && isKept(letter)),
    )
    const result = {
      from: formatInstant(from),
      to: formatInstant(to),
      replays,
      /** Whether every event has taken effect: none was rejected, and none still waits in a queue. */
      applied: isSettled && rejected.length === 0,
      rejected: rejected.map(({ detailType, id, reason }) => ({ detail_type: detailType, id, reason })),
    }
    return show(result, { ok: result.applied })
  } finally {
    await release()
  }
}

/** Redrives a replay's dead letters until their number stops falling. Resolves with those that remain. */
async function redriveWhileItHelps(
  sqs: SQSClient,
  pairs: QueuePair[],
  worker: QueuePair,
  matches: (letter: DeadLetter) => boolean,
): Promise<DeadLetter[]> {
  for (let before = Infinity; ;) {
    const redrives = await onDeadLetters(sqs, pairs, (pair) => redriveDeadLetters(sqs, pair, matches))
    const redriven = redrives.reduce((sum, count) => sum + count, 0)
    if (redriven === 0) return []
    await awaitEmptyQueues(sqs, [...pairs, worker])
    const list = ({ deadLetters }: QueuePair) =>
      collectDeadLetters(sqs, deadLetters, { limit: maxListedPerQueue, matches })
    if (redriven >= before) return (await onDeadLetters(sqs, pairs, list)).flatMap(({ letters }) => letters)
    before = redriven
  }
}

/**
 * Initial pause and maximum pause between polls. A replay takes minutes on AWS, milliseconds on the local
 * stack.
 */
const pollIntervals = { first: 50, most: 5_000 }

/**
 * Replays the archived events of a span of time to the named rules of the bus, and waits for the end. Archive
 * and bus have the same name. Throws an OperationError if the replay fails.
 */
async function replayArchive(
  { eventBusName }: Target,
  name: string,
  { from, to }: Span,
  rules: string[],
  { terminal, part }: { terminal: Terminal; part: string },
): Promise<void> {
  const client = new EventBridgeClient(clientOptions())
  const described = await client.send(new DescribeArchiveCommand({ ArchiveName: eventBusName }))
  const { ArchiveArn: archiveArn, EventSourceArn: busArn = '' } = described
  await client.send(
    new StartReplayCommand({
      ReplayName: name,
      EventSourceArn: archiveArn,
      // Start at a whole second, because an event's time has no fraction of a second (EventBridge: AWS
      // service event metadata).
      EventStartTime: new Date(from - (from % 1000)),
      EventEndTime: new Date(to),
      Destination: {
        Arn: busArn,
        FilterArns: rules.map((rule) => `${busArn.replace(':event-bus/', ':rule/')}/${rule}`),
      },
    }),
  )
  // EventBridge does not tell how many events there are, but up to which instant they are replayed.
  using progress = startProgress(terminal, `replaying ${part}`, 'minutes of events')
  for (let pause = pollIntervals.first; ; pause = Math.min(2 * pause, pollIntervals.most)) {
    const {
      State: state,
      StateReason: reason = '-',
      EventLastReplayedTime: last,
    } = await client.send(new DescribeReplayCommand({ ReplayName: name }))
    const minutes = (until: number) => Math.ceil((until - from) / 60_000)
    progress.show(last === undefined ? 0 : minutes(last.getTime()), minutes(to))
    if (state === 'COMPLETED') return
    if (state === 'FAILED' || state === 'CANCELLED')
      throw new OperationError(`the replay ${name} ended as ${state}: ${reason}`)
    await wait(pause)
  }
}
