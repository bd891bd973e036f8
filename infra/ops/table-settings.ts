import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { formatTable } from './terminal.ts'

/** The settings of a stage's table that depend on its configuration. */
export interface StageTable {
  deletionProtection: boolean
  tags: Record<string, string>
}

/** A setting of a table that a restore does not bring back (DynamoDB: RestoreTableToPointInTime). */
export interface TableSetting {
  setting: string
  wanted: string
  /** What the table has, or had before it was set. */
  actual: string
}

interface Check extends TableSetting {
  set: () => Promise<unknown>
}

/** How far back a table can be restored, in days: the longest period of DynamoDB. */
const recoveryDays = 35

/** Compares the settings of a table with those of its stage, and with `apply` sets those that differ. */
export async function checkTable(
  TableName: string,
  { deletionProtection, tags }: StageTable,
  apply: boolean,
): Promise<TableSetting[]> {
  const client = new DynamoDBClient(clientOptions())
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }))
    const checks = [
      await checkTimeToLive(client, TableName),
      await checkRecovery(client, TableName),
      ...(deletionProtection ? [checkProtection(client, TableName, Table?.DeletionProtectionEnabled)] : []),
      await checkTags(client, Table?.TableArn ?? '', tags),
    ]
    for (const { wanted, actual, set } of checks) if (apply && wanted !== actual) await set()
    return checks.map(({ setting, wanted, actual }) => ({ setting, wanted, actual }))
  } finally {
    client.destroy()
  }
}

async function checkTimeToLive(client: DynamoDBClient, TableName: string): Promise<Check> {
  const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
  const isOn = ttl?.TimeToLiveStatus === 'ENABLED' || ttl?.TimeToLiveStatus === 'ENABLING'
  const TimeToLiveSpecification = { AttributeName: 'ttl', Enabled: true }
  return {
    setting: 'time to live',
    wanted: 'ttl',
    actual: (isOn && ttl.AttributeName) || 'off',
    set: () => client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification })),
  }
}

async function checkRecovery(client: DynamoDBClient, TableName: string): Promise<Check> {
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  )
  const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription
  const PointInTimeRecoverySpecification = {
    PointInTimeRecoveryEnabled: true,
    RecoveryPeriodInDays: recoveryDays,
  }
  return {
    setting: 'point-in-time recovery',
    wanted: `${recoveryDays} days`,
    actual:
      recovery?.PointInTimeRecoveryStatus === 'ENABLED'
        ? `${recovery.RecoveryPeriodInDays ?? recoveryDays} days`
        : 'off',
    set: () =>
      client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification })),
  }
}

const checkProtection = (client: DynamoDBClient, TableName: string, isOn = false): Check => ({
  setting: 'deletion protection',
  wanted: 'on',
  actual: isOn ? 'on' : 'off',
  set: () => client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true })),
})

async function checkTags(
  client: DynamoDBClient,
  ResourceArn: string,
  wanted: StageTable['tags'],
): Promise<Check> {
  const actual = new Map<string | undefined, string | undefined>()
  let NextToken: string | undefined
  do {
    const page = await client.send(new ListTagsOfResourceCommand({ ResourceArn, NextToken }))
    for (const { Key, Value } of page.Tags ?? []) actual.set(Key, Value)
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  const names = Object.keys(wanted).sort()
  const Tags = names.map((Key) => ({ Key, Value: wanted[Key] }))
  return {
    setting: 'tags',
    wanted: names.map((name) => `${name}=${wanted[name] ?? ''}`).join(' '),
    actual: names.map((name) => `${name}=${actual.get(name) ?? ''}`).join(' '),
    set: () => client.send(new TagResourceCommand({ ResourceArn, Tags })),
  }
}

/** Formats the settings of a table as text. */
export const formatSettings = (settings: readonly TableSetting[]): string =>
  formatTable(
    ['', 'SETTING', 'WANTED', 'FOUND'],
    settings.map(({ setting, wanted, actual }) => [
      wanted === actual ? 'ok' : 'DIFFERS',
      setting,
      wanted,
      actual,
    ]),
  )
