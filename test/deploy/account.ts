import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import { DescribeEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { UsageError } from './options.ts'

/** Returns the AWS account and region of the machine's credentials. Throws a UsageError without any. */
export async function readAccount(): Promise<{ account: string; region: string }> {
  const client = new EventBridgeClient()
  try {
    // Every account has a default bus, whose ARN names account and region.
    const { Arn = '' } = await client.send(new DescribeEventBusCommand())
    const [, , , region = '', account = ''] = Arn.split(':')
    return { account, region }
  } catch (error) {
    throw new UsageError(
      `no AWS account answers: set AWS_REGION and AWS_PROFILE, or sign in (${error instanceof Error ? error.message : String(error)})`,
    )
  } finally {
    client.destroy()
  }
}

/** Whether a stage is deployed, which its table tells. */
export async function stageExists(tableName: string): Promise<boolean> {
  const client = new DynamoDBClient()
  try {
    await client.send(new DescribeTableCommand({ TableName: tableName }))
    return true
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false
    throw error
  } finally {
    client.destroy()
  }
}
