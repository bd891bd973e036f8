import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { type Finding, judge } from './finding.ts'
import { checkMail } from './mail.ts'

/** Checks the standby region: the replica of the table is active, and SES can send mails there. */
export async function checkStandby(tableName: string, region: string, mailFrom: string): Promise<Finding> {
  const [status, mail] = await Promise.all([
    readReplicaStatus(tableName, region),
    checkMail(mailFrom, region),
  ])
  const problems = [
    ...(status === 'ACTIVE' ? [] : [`the replica of ${tableName} is ${status}`]),
    ...(mail.ok ? [] : [mail.words]),
  ]
  const { ok, words } = judge(problems, 'has a replica of the table, and mails can be sent')
  return { ok, words: `${region}: ${words}` }
}

async function readReplicaStatus(TableName: string, region: string): Promise<string> {
  const client = new DynamoDBClient(clientOptions())
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  return Table?.Replicas?.find(({ RegionName }) => RegionName === region)?.ReplicaStatus ?? 'missing'
}
