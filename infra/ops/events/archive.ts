import {
  DescribeArchiveCommand,
  DescribeReplayCommand,
  EventBridgeClient,
  StartReplayCommand,
} from '@aws-sdk/client-eventbridge'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { OperationError } from '../errors.ts'
import type { Target } from '../target.ts'

/** Events from one instant up to another, which is excluded, epoch milliseconds. */
export interface Span {
  from: number
  to: number
}

/** The archive of a deployment's events. */
export interface EventArchive {
  /**
   * Replays the events of a span to rules of the bus, by their names, and waits for the end. Throws an
   * OperationError if EventBridge gives up.
   */
  replay: (name: string, span: Span, rules: string[]) => Promise<void>
  close: () => void
}

/** A replay takes minutes on AWS, and milliseconds on the local stack. */
const pollIntervals = { first: 50, most: 5_000 }

/** Opens the archive, which has the name of the bus. */
export async function openArchive({ eventBusName }: Target): Promise<EventArchive> {
  const client = new EventBridgeClient(clientOptions())
  const described = await client.send(new DescribeArchiveCommand({ ArchiveName: eventBusName }))
  const { ArchiveArn: archiveArn, EventSourceArn: busArn = '' } = described
  const ruleArn = (rule: string) => `${busArn.replace(':event-bus/', ':rule/')}/${rule}`

  const stateOf = async (name: string): Promise<string> => {
    const replay = await client.send(new DescribeReplayCommand({ ReplayName: name }))
    if (replay.State === 'FAILED' || replay.State === 'CANCELLED')
      throw new OperationError(`the replay ${name} ended as ${replay.State}: ${replay.StateReason ?? '-'}`)
    return replay.State ?? ''
  }

  return {
    async replay(name, { from, to }, rules) {
      await client.send(
        new StartReplayCommand({
          ReplayName: name,
          EventSourceArn: archiveArn,
          // The times of events have whole seconds (EventBridge: AWS service event metadata).
          EventStartTime: new Date(from - (from % 1000)),
          EventEndTime: new Date(to),
          Destination: { Arn: busArn, FilterArns: rules.map(ruleArn) },
        }),
      )
      for (let pause = pollIntervals.first; (await stateOf(name)) !== 'COMPLETED'; pause *= 2)
        await wait(Math.min(pause, pollIntervals.most))
    },
    close: () => client.destroy(),
  }
}
