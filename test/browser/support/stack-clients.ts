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
  (await findItems(kind, email)).length > 0

/** Makes all login tickets of the user with an email address expire, by setting their expiry to the past. */
export async function expireTickets(email: string): Promise<void> {
  for (const item of await findItems('SIGNIN#', email))
    for (const ticket of Object.keys(item['tickets']?.M ?? {}))
      await setToPast([item], 'tickets.#ticket.expires_at', { '#ticket': ticket })
}

/** Makes all sign-ins of a user look old, by setting the instant of each to the past. */
export async function ageSignIns(userId: number): Promise<void> {
  const items = await scanItems('begins_with(sk, :kind) AND userId = :userId', {
    ':kind': { S: 'TOKEN#' },
    ':userId': { N: String(userId) },
  })
  await setToPast(items, 'authenticatedAt')
}

async function setToPast(items: Item[], attribute: string, names?: Record<string, string>): Promise<void> {
  if (items.length === 0) throw new Error(`there is no item whose ${attribute} could be in the past`)
  const client = new DynamoDBClient(options())
  for (const { pk = { S: '' }, sk = { S: '' } } of items)
    await client.send(
      new UpdateItemCommand({
        TableName: inject('stack').table,
        Key: { pk, sk },
        UpdateExpression: `SET ${attribute} = :past`,
        ...(names && { ExpressionAttributeNames: names }),
        ExpressionAttributeValues: { ':past': { N: '1' } },
      }),
    )
}

const findItems = (kind: string, email: string): Promise<Item[]> =>
  scanItems('begins_with(pk, :kind) AND email = :email', { ':kind': { S: kind }, ':email': { S: email } })

type Item = Record<string, AttributeValue>

async function scanItems(filter: string, values: Item): Promise<Item[]> {
  const { Items = [] } = await new DynamoDBClient(options()).send(
    new ScanCommand({
      TableName: inject('stack').table,
      ConsistentRead: true,
      FilterExpression: filter,
      ExpressionAttributeValues: values,
    }),
  )
  return Items
}
