import { type AttributeValue, DynamoDBClient, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
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
  await setToPast(await findKeys('TICKET#', email), 'expires_at')
}

/** Makes all sign-ins of a user look old, by setting the instant of each to the past. */
export async function ageSignIns(userId: number): Promise<void> {
  const keys = await scanKeys('begins_with(sk, :kind) AND user_id = :user_id', {
    ':kind': { S: 'TOKEN#' },
    ':user_id': { N: String(userId) },
  })
  await setToPast(keys, 'authenticated_at')
}

async function setToPast(keys: Key[], attribute: string): Promise<void> {
  if (keys.length === 0) throw new Error(`there is no item whose ${attribute} could be in the past`)
  const client = new DynamoDBClient(options())
  for (const key of keys)
    await client.send(
      new UpdateItemCommand({
        TableName: inject('stack').table,
        Key: key,
        UpdateExpression: `SET ${attribute} = :past`,
        ExpressionAttributeValues: { ':past': { N: '1' } },
      }),
    )
}

const findKeys = (kind: string, email: string): Promise<Key[]> =>
  scanKeys('begins_with(pk, :kind) AND email = :email', { ':kind': { S: kind }, ':email': { S: email } })

type Key = Record<'pk' | 'sk', AttributeValue>

async function scanKeys(filter: string, values: Record<string, AttributeValue>): Promise<Key[]> {
  const { Items = [] } = await new DynamoDBClient(options()).send(
    new ScanCommand({
      TableName: inject('stack').table,
      ConsistentRead: true,
      FilterExpression: filter,
      ExpressionAttributeValues: values,
    }),
  )
  return Items.map(({ pk, sk }) => ({ pk: pk ?? { S: '' }, sk: sk ?? { S: '' } }))
}
