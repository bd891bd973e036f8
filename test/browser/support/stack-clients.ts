import { DynamoDBClient, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { inject } from 'vitest'

const options = () => ({
  endpoint: inject('stack').awsUrl,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
})

/** Puts one event on the local stack's event bus. */
export async function putEvent(detailType: string, detail: object): Promise<void> {
  const client = new EventBridgeClient(options())
  const { FailedEntryCount } = await client.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: inject('stack').eventBus,
          Source: 'browser-tests',
          DetailType: detailType,
          Detail: JSON.stringify(detail),
        },
      ],
    }),
  )
  if (FailedEntryCount) throw new Error(`${detailType} was not taken`)
}

/** Whether the table has an item with this email address whose partition key starts with `kind`. */
export const hasItem = async (kind: string, email: string): Promise<boolean> =>
  (await findKeys(kind, email)).length > 0

/** Makes all login tickets of an email address expire, by setting their expiry to the past. */
export async function expireTickets(email: string): Promise<void> {
  const keys = await findKeys('TICKET#', email)
  if (keys.length === 0) throw new Error('there is no ticket to expire')
  const client = new DynamoDBClient(options())
  for (const key of keys)
    await client.send(
      new UpdateItemCommand({
        TableName: inject('stack').table,
        Key: key,
        UpdateExpression: 'SET expires_at = :past',
        ExpressionAttributeValues: { ':past': { N: '1' } },
      }),
    )
}

async function findKeys(kind: string, email: string) {
  const { Items = [] } = await new DynamoDBClient(options()).send(
    new ScanCommand({
      TableName: inject('stack').table,
      ConsistentRead: true,
      FilterExpression: 'begins_with(pk, :kind) AND email = :email',
      ExpressionAttributeValues: { ':kind': { S: kind }, ':email': { S: email } },
    }),
  )
  return Items.map(({ pk, sk }) => ({ pk: pk ?? { S: '' }, sk: sk ?? { S: '' } }))
}
