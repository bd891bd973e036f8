import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { db, Integer, type Key, tableName } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { addressDigest, type NetworkAddress } from './network-address.ts'

/** An address of the service: free, or one user's for good. */
const AddressItem = v.object({
  currency: v.string(),
  currency_network: v.string(),
  address: v.string(),
  tag: v.optional(v.string()),
  required_confirmations: Integer,
  batch_id: v.string(),
  user_id: v.optional(Integer),
})
export type AddressItem = v.InferOutput<typeof AddressItem>

const addressKey = (digest: string): Key => ({ pk: `ADDR#${digest}`, sk: 'ADDRESS' })

/** An address by where it is on its network, or undefined where it is none of ours. */
export const readAddress = (where: NetworkAddress): Promise<AddressItem | undefined> =>
  readAddressByDigest(addressDigest(where))

/** An address by its digest. */
export async function readAddressByDigest(digest: string): Promise<AddressItem | undefined> {
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: addressKey(digest), ConsistentRead: true }),
  )
  return Item === undefined ? undefined : v.parse(AddressItem, Item)
}

/** Most keys of one BatchGetItem. */
const batchGetLimit = 100

/** Those of the addresses that the service has already. */
export async function readAddresses(wheres: NetworkAddress[]): Promise<AddressItem[]> {
  const found: AddressItem[] = []
  for (let i = 0; i < wheres.length; i += batchGetLimit) {
    let keys: Record<string, unknown>[] = wheres
      .slice(i, i + batchGetLimit)
      .map((where) => ({ ...addressKey(addressDigest(where)) }))
    while (keys.length > 0) {
      const before = keys.length
      const { Responses, UnprocessedKeys } = await db.send(
        new BatchGetCommand({ RequestItems: { [tableName()]: { Keys: keys, ConsistentRead: true } } }),
      )
      found.push(...(Responses?.[tableName()] ?? []).map((item) => v.parse(AddressItem, item)))
      keys = UnprocessedKeys?.[tableName()]?.Keys ?? []
      if (keys.length === before) throw new Error('a batch of reads makes no progress')
    }
  }
  return found
}

/** The write that adds an address; its condition fails where the service has it already. */
export const putAddress = (item: AddressItem): Write => ({
  Put: {
    TableName: tableName(),
    Item: { ...addressKey(addressDigest(whereIs(item))), ...item },
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})

/** The write that makes an address a user's; its condition fails where it is somebody's already. */
export const assignAddress = (digest: string, userId: number): Write => ({
  Update: {
    TableName: tableName(),
    Key: addressKey(digest),
    UpdateExpression: 'SET user_id = :user',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(user_id)',
    ExpressionAttributeValues: { ':user': userId },
  },
})

/** Where an address is on its network. */
export const whereIs = ({ currency_network, address, tag }: AddressItem): NetworkAddress => ({
  network: currency_network,
  address,
  tag,
})
