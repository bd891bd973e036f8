import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { addressDigest, type NetworkAddress } from './network-address.ts'
import { readItem, readItems } from '../db/read.ts'

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
  const item = await readItem(addressKey(digest), { consistent: true })
  return item === undefined ? undefined : v.parse(AddressItem, item)
}

/** Those of the addresses that the service has already. */
export async function readAddresses(addresses: NetworkAddress[]): Promise<AddressItem[]> {
  const keys = addresses.map((address) => addressKey(addressDigest(address)))
  const items = await readItems(keys, { consistent: true })
  return items.filter((item) => item !== undefined).map((item) => v.parse(AddressItem, item))
}

/** The write that adds an address; its condition fails where the service has it already. */
export const putAddress = (item: AddressItem): Write => ({
  Put: {
    Item: { ...addressKey(addressDigest(whereIs(item))), ...item },
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})

/** The write that makes an address a user's; its condition fails where it is somebody's already. */
export const assignAddress = (digest: string, userId: number): Write => ({
  Update: {
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
