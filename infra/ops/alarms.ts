import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch'
import { clientOptions } from '../../shared/aws/client-options.ts'
import type { Target } from './target.ts'
import { formatInstant, formatTable } from './terminal.ts'

/** An alarm that is raised. */
export interface RaisedAlarm {
  /** Name without the stage's prefix. */
  name: string
  /** Since when, epoch milliseconds. */
  since: number
  /** What it means, and the section of the runbook. */
  description: string
}

/** Lists the alarms of a deployment that are raised, but not those that join others. */
export async function listRaisedAlarms({ namePrefix }: Pick<Target, 'namePrefix'>): Promise<RaisedAlarm[]> {
  const client = new CloudWatchClient(clientOptions())
  const filter = {
    StateValue: 'ALARM',
    ...(namePrefix === '' ? {} : { AlarmNamePrefix: namePrefix }),
  } as const
  const raised: RaisedAlarm[] = []
  try {
    for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client }, filter))
      for (const { AlarmName = '', AlarmDescription = '', StateUpdatedTimestamp: since } of MetricAlarms)
        raised.push({
          name: AlarmName.slice(namePrefix.length),
          since: since?.getTime() ?? 0,
          description: AlarmDescription,
        })
    return raised
  } finally {
    client.destroy()
  }
}

/** Formats raised alarms as text. */
export const formatAlarms = (alarms: readonly RaisedAlarm[]): string =>
  alarms.length === 0
    ? 'no alarm is raised'
    : formatTable(
        ['ALARM', 'SINCE', 'MEANING'],
        alarms.map(({ name, since, description }) => [name, formatInstant(since), description]),
      )
