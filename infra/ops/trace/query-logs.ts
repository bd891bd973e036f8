import {
  CloudWatchLogsClient,
  GetQueryResultsCommand,
  paginateDescribeLogGroups,
  type ResultField,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { serviceName } from '../../names.ts'
import { OperationError } from '../errors.ts'
import { type FindLines, instantOf, type LogLine, readLine } from './log-lines.ts'

/** Log groups of one query, and lines of one result, at most (CloudWatch Logs: StartQuery). */
const maxGroups = 50
const maxLines = 10_000

const pollMilliseconds = 1_000
/** Time after which the command gives a query up; CloudWatch itself ends it after an hour. */
const maxQueryMilliseconds = 300_000

/** Searches the logs of a stage's functions from an instant on, by CloudWatch Logs Insights. */
export function searchStageLogs(stage: string, from: number): FindLines {
  const client = new CloudWatchLogsClient(clientOptions())
  let groups: Promise<string[]> | undefined
  const query = async (logGroupNames: string[], texts: string[]): Promise<LogLine[]> => {
    const { queryId } = await client.send(
      new StartQueryCommand({
        logGroupNames,
        startTime: Math.floor(from / 1_000),
        endTime: Math.ceil(Date.now() / 1_000),
        // The texts are ids without quotes: see trace.ts.
        queryString: `fields @timestamp, @log, @message | filter ${texts.map((text) => `@message like "${text}"`).join(' or ')} | sort @timestamp asc`,
        limit: maxLines,
      }),
    )
    return (await awaitResults(client, queryId)).map(toLine)
  }
  return async (texts) => {
    const names = await (groups ??= listGroups(client, stage))
    const lines: LogLine[] = []
    for (let start = 0; start < names.length; start += maxGroups)
      lines.push(...(await query(names.slice(start, start + maxGroups), texts)))
    return lines
  }
}

async function listGroups(client: CloudWatchLogsClient, stage: string): Promise<string[]> {
  const names: string[] = []
  for (const stack of ['api', 'intake']) {
    const prefix = { logGroupNamePrefix: `/${serviceName(stage)}-${stack}/` }
    for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, prefix))
      names.push(...logGroups.flatMap(({ logGroupName = [] }) => logGroupName))
  }
  return names
}

async function awaitResults(
  client: CloudWatchLogsClient,
  queryId: string | undefined,
): Promise<ResultField[][]> {
  const giveUpAt = Date.now() + maxQueryMilliseconds
  for (;;) {
    const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }))
    if (status === 'Complete') return results
    if (status !== 'Running' && status !== 'Scheduled')
      throw new OperationError(`the query of the logs ended as ${status ?? 'unknown'}: try a shorter time`)
    if (Date.now() > giveUpAt)
      throw new OperationError('the query of the logs takes too long: try a shorter time')
    await wait(pollMilliseconds)
  }
}

/** Reads a row of a result: `@log` is `ACCOUNT:GROUP`, and the group ends with the function's name. */
function toLine(row: ResultField[]): LogLine {
  const valueOf = (name: string) => row.find(({ field }) => field === name)?.value ?? ''
  const fields = readLine(valueOf('@message').trimEnd())
  const at = Date.parse(`${valueOf('@timestamp').replace(' ', 'T')}Z`)
  return { at: instantOf(fields, at), function: valueOf('@log').split('/').at(-1) ?? '', fields }
}
