import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { db, tableName } from '../db/table.ts'
import { type Profile, profileKey, toProfile } from './profile.ts'

/** A member's profile as it stands now, or undefined where there is no such member. */
export async function readProfile(userId: number): Promise<Profile | undefined> {
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: profileKey(userId), ConsistentRead: true }),
  )
  return Item && toProfile(Item)
}
